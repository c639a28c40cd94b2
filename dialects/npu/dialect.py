"""The dialect class."""

from aiopt.dialects.ext import Dialect


class NpuDialect(Dialect, name="npu"):
    """Programs for NPUs with a systolic array (docs/npu.md)."""
