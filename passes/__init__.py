"""Passes, level specs and pipelines."""
