"""Finding the pass that makes a net's numbers wrong: the same input is run after every pass."""

from aiopt.bisect.narrow import Culprit, narrow
from aiopt.bisect.search import Finding, Search, bisect, input_types
from aiopt.bisect.values import Tolerance

__all__ = ["Culprit", "Finding", "Search", "Tolerance", "bisect", "input_types", "narrow"]
