"""Elementary functions of f32 spelled in arith: what `ai-expand-math` puts in the place of math ops.

One file per function. Each is free of branches and table look-ups, so that LLVM vectorizes loops around it, and its
docstring says the largest error that was measured, in units in the last place against float64 (of the spacing of
denormals for results below the smallest normal number) and with fused multiply-add: without it up to 0.5 more was
allowed for. test/unit/passes/lower/test_math.py measures both again, on a part of all floats.
"""
