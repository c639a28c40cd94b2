"""A context with the ai dialect, current in the test."""

from collections.abc import Iterator

import pytest
from mlir import ir

from aiopt.dialects.ai import AiDialect


@pytest.fixture
def context() -> Iterator[ir.Context]:
    with ir.Context() as ctx, ir.Location.unknown():
        AiDialect.load(ctx)
        yield ctx
