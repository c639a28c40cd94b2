"""Passes from `ai` ops to `ai` ops: simplify, fold, fuse and outline kernels."""
