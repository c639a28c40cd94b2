"""write_weights.py FILE KEY=SIZE...: a safetensors file of f32 vectors 0, 1, 2, ..."""

import sys

import numpy as np
from safetensors.numpy import save_file

sizes = dict(pair.split("=") for pair in sys.argv[2:])
save_file({key: np.arange(int(size), dtype=np.float32) for key, size in sizes.items()}, sys.argv[1])
