"""Templates: Python functions that emit a kernel's loops for exactly its shapes, blocked for registers and caches."""
