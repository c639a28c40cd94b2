"""show_weights.py FILE: one line a tensor, its key and its values."""

import sys

from safetensors.numpy import load_file

for key, array in sorted(load_file(sys.argv[1]).items()):
    print(key, array.tolist())
