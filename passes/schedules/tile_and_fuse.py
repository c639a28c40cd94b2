"""The schedule of the structured route: tile the last op of a kernel and fuse what produces its operands."""

from __future__ import annotations

from collections.abc import Sequence


def tile_and_fuse(name: str, tile_sizes: Sequence[int], store: int, stores: int) -> str:
    """A named sequence that tiles the op whose result the function stores into an scf.forall.

    `store` is the number of that store among its `stores` in all. Producers that can be tiled go into the loop; 0
    leaves a dimension whole. Payload: a function on tensors.
    """
    sizes = ", ".join(str(size) for size in tile_sizes)
    any_op = "!transform.any_op"
    kinds = ", ".join([any_op] * stores)
    handle = f"%stores#{store}" if stores > 1 else "%stores"
    return f"""
  transform.named_sequence @{name}(%function: {any_op} {{transform.readonly}}) {{
    %all = transform.structured.match ops{{["bufferization.materialize_in_destination"]}} in %function
      : ({any_op}) -> {any_op}
    %stores{f":{stores}" if stores > 1 else ""} = transform.split_handle %all : ({any_op}) -> ({kinds})
    %root = transform.get_producer_of_operand {handle}[0] : ({any_op}) -> {any_op}
    %tiled, %loop = transform.structured.fuse %root tile_sizes [{sizes}] {{apply_cleanup, use_forall}}
      : ({any_op}) -> ({any_op}, {any_op})
    transform.yield
  }}"""
