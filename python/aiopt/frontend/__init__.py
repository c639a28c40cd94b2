"""Readers of model formats; each yields a GRAPH-level module and the values of its constants."""
