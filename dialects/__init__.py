"""Dialects defined in Python. One package per dialect, named like its namespace (mlir finds classes by that name)."""
