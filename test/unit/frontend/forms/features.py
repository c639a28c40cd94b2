"""Forms of the numeric operators of ai.onnx.ml."""

import numpy as np

from unit.frontend.forms.form import X, f32, form, i64

ROWS = f32(4, 3)
HOLES = np.float32([[1, np.nan, 3], [0, 5, np.nan]])
FORMS = {
    "ArrayFeatureExtractor": [form(ROWS, i64(2, 0, 2))],
    "Binarizer": [form(X, threshold=0.3)],
    "FeatureVectorizer": [form(ROWS, f32(4, 2, seed=1), inputdimensions=[3, 2])],
    "Imputer": [form(HOLES, imputed_value_floats=[7.0, 8.0, 9.0], replaced_value_float=float("nan"))],
    "LinearRegressor": [form(ROWS, coefficients=[0.3, 1.0, -2.0, 1.0, 2.0, 3.0], targets=2, intercepts=[0.4, 1.0])],
    "Normalizer": [form(ROWS, norm=norm) for norm in ("L1", "L2")],
    "OneHotEncoder": [form(i64(1, 5, 9, 3), cats_int64s=[3, 1, 5])],
    "Scaler": [form(ROWS, offset=[0.5, -1.0, 2.0], scale=[2.0, 0.1, 1.5])],
}
