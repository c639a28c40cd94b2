"""Models of which parts can only be compiled, or only be run by a reference, when a run has got there."""

from aiopt.staged.net import StagedNet

__all__ = ["StagedNet"]
