"""Forms of the numeric operators of ai.onnx.ml."""

import numpy as np
from onnx import numpy_helper

from unit.frontend.forms.form import X, f32, form, i64
from unit.frontend.random_trees import grow

ROWS = f32(4, 3)
HOLES = np.float32([[1, np.nan, 3], [0, 5, np.nan]])
TREES = grow(0, 4, 3, 3, [0, 1, 2])
NODES = TREES.attributes(missing=True)
LEAVES = {
    "nodes_splits": numpy_helper.from_array(np.float32([0, 1])),
    "nodes_featureids": [0, 2],
    "nodes_modes": numpy_helper.from_array(np.uint8([0, 5])),
    "nodes_truenodeids": [1, 0],
    "nodes_falsenodeids": [2, 1],
    "nodes_trueleafs": [0, 1],
    "nodes_falseleafs": [1, 1],
    "leaf_targetids": [0, 1, 0],
    "leaf_weights": numpy_helper.from_array(np.float32([1, 2, 3])),
    "tree_roots": [0],
    "n_targets": 2,
}
FORMS = {
    "ArrayFeatureExtractor": [form(ROWS, i64(2, 0, 2))],
    "Binarizer": [form(X, threshold=0.3)],
    "FeatureVectorizer": [form(ROWS, f32(4, 2, seed=1), inputdimensions=[3, 2])],
    "Imputer": [form(HOLES, imputed_value_floats=[7.0, 8.0, 9.0], replaced_value_float=float("nan"))],
    "LinearRegressor": [form(ROWS, coefficients=[0.3, 1.0, -2.0, 1.0, 2.0, 3.0], targets=2, intercepts=[0.4, 1.0])],
    "Normalizer": [form(ROWS, norm=norm) for norm in ("L1", "L2")],
    "OneHotEncoder": [form(i64(1, 5, 9, 3), cats_int64s=[3, 1, 5])],
    "TreeEnsemble": [form(ROWS, **LEAVES)],
    "TreeEnsembleClassifier": [
        form(ROWS, **NODES, **TREES.votes("class", 3, 3), classlabels_int64s=[7, 3, 9], outputs=2)
    ],
    "TreeEnsembleRegressor": [form(ROWS, **NODES, **TREES.votes("target", 2, 2), n_targets=2)],
    "Scaler": [form(ROWS, offset=[0.5, -1.0, 2.0], scale=[2.0, 0.1, 1.5])],
}
