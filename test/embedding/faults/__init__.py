"""Faults planted in passes, one module each, for aiopt-bisect to find: importing one plants it."""
