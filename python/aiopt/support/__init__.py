"""Foundations every other layer may import: errors, types, weights, options."""
