"""The schedule of the structured route: tile the last op of a kernel and fuse what produces its operands."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

ROOT = "ai.root"


def tile_and_fuse(tile_sizes: Sequence[int]) -> ir.Module:
    """A transform module whose @tile_and_fuse tiles the op marked `ai.root` into an scf.forall.

    Producers that can be tiled go into the loop; 0 leaves a dimension whole. Payload: a function on tensors.
    """
    sizes = ", ".join(str(size) for size in tile_sizes)
    return ir.Module.parse(f"""
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @tile_and_fuse(%function: !transform.any_op {{transform.readonly}}) {{
    %root = transform.structured.match attributes {{{ROOT}}} in %function : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.fuse %root tile_sizes [{sizes}] {{apply_cleanup, use_forall}}
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }}
}}""")
