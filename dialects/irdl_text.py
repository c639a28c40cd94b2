"""An op as IRDL text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aiopt.dialects.slots import IRDL_ATTRIBUTE, Attribute, Slot


def dialect_text(name: str, types: Sequence[str], attributes: Sequence[str], operations: Sequence[str]) -> str:
    """An `irdl.dialect` of types and attributes without parameters and of the texts of operations."""
    declared = [f"  irdl.type @{kind}" for kind in types] + [f"  irdl.attribute @{kind}" for kind in attributes]
    return "\n".join([f"irdl.dialect @{name} {{", *declared, *operations, "}", ""])


def operation_text(
    name: str, operands: Sequence[Slot], results: Sequence[Slot], attributes: Mapping[str, Attribute]
) -> str:
    """An `irdl.operation` of this name within its dialect. Optional attributes are left out: IRDL has none."""
    lines: list[str] = []

    def constraint(base: str) -> str:
        lines.append(f"    %{len(lines)} = irdl.base {base}")
        return f"%{len(lines) - 1}"

    def slots(declared: Sequence[Slot]) -> str:
        parts = []
        for slot in declared:
            names = [f"{slot.name}_{i}" for i in range(slot.width)] if slot.kind == "variadic" else [slot.name]
            optional = "" if slot.kind == "single" else "optional "
            parts += [f"{name}: {optional}{constraint(slot.constraint.base)}" for name in names]
        return ", ".join(parts)

    operand_list, result_list = slots(operands), slots(results)
    required = {key: declared.kind for key, declared in attributes.items() if not declared.optional}
    listed = ", ".join(f'"{key}" = {constraint(IRDL_ATTRIBUTE[kind])}' for key, kind in required.items())
    body = [*lines, f"    irdl.operands({operand_list})", f"    irdl.results({result_list})"]
    if listed:
        body.append(f"    irdl.attributes {{ {listed} }}")
    return "\n".join([f"  irdl.operation @{name} {{", *body, "  }"])
