"""aiopt: a compiler for neural networks."""
