"""A context with the ai dialect, current in the test."""

from collections.abc import Iterator

import pytest
from mlir import ir

from aiopt.passes.io import new_context


@pytest.fixture
def context() -> Iterator[ir.Context]:
    with new_context() as ctx, ir.Location.unknown():
        yield ctx
