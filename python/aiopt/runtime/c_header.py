"""The C header of one net: its prototypes, and the sizes of its tensors as constants."""

from __future__ import annotations

import re
from collections.abc import Mapping

from aiopt.runtime.library import ABI_VERSION
from aiopt.runtime.net import CompiledNet
from aiopt.support.types import TensorType

_TYPES = {
    "i1": "int8_t",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "ui8": "uint8_t",
    "ui16": "uint16_t",
    "ui32": "uint32_t",
    "ui64": "uint64_t",
    "bf16": "uint16_t",
    "f16": "uint16_t",
    "f32": "float",
    "f64": "double",
}


def c_header(net: CompiledNet, version: str) -> str:
    """The text of a header for C and C++; version: that of aiopt. See docs/c-api.md."""
    prefix = f"AIOPT_{net.name.upper()}"
    tensors = [*_tensors(f"{prefix}_IN", net.inputs), "", *_tensors(f"{prefix}_OUT", net.outputs)]
    return "\n".join(
        [
            f"/* The net '{net.name}', compiled by aiopt {version}. Its functions are in the object or shared object",
            " * that aiopt-compile writes, its weights in the file beside it; aiopt.h says how to use them. */",
            f"#ifndef {prefix}_H",
            f"#define {prefix}_H",
            "",
            '#include "aiopt.h"',
            "",
            f"#if AIOPT_ABI_VERSION != {ABI_VERSION}",
            f'#error "this net needs the aiopt.h of ABI version {ABI_VERSION}"',
            "#endif",
            "",
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif",
            "",
            f"extern const aiopt_net_info aiopt_{net.name}_info;",
            f"int32_t aiopt_{net.name}_run(const aiopt_ctx *ctx, const aiopt_tensor *in, aiopt_tensor *out);",
            "",
            "/* The file of weights has this many bytes; in memory they begin at a multiple of 64. */",
            f"#define {prefix}_WEIGHTS_BYTES {net.weights.nbytes}",
            "",
            "/* Of each tensor: position in `in` or `out`, element type, rank, shape, number of elements, bytes. */",
            *tensors,
            "",
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "#endif",
            "",
        ]
    )


def _tensors(prefix: str, types: Mapping[str, TensorType]) -> list[str]:
    lines = [f"#define {prefix}PUTS {len(types)}"]
    taken: set[str] = set()
    for position, (name, type_) in enumerate(types.items()):
        word = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").upper()
        if not word or not taken.isdisjoint(_macros(word)):
            word = f"{position}_{word}".strip("_")  # no other word begins with this number
        taken.update(_macros(word))
        symbol = f"{prefix}_{word}"
        shape = ", ".join(map(str, type_.shape)) or "0"  # C has no empty initializer
        lines += [
            f"/* {_comment(name)}: {type_} */",
            f"#define {symbol} {position}",
            f"#define {symbol}_TYPE {_TYPES[type_.element]}",
            f"#define {symbol}_RANK {type_.rank}",
            f"#define {symbol}_SHAPE {{{shape}}}",
            f"#define {symbol}_SIZE {type_.size}",
            f"#define {symbol}_BYTES {type_.nbytes}",
        ]
    return lines


def _macros(word: str) -> set[str]:
    """All names that a tensor of this word takes: an input `x` and one called `x_TYPE` must not share any."""
    return {word, *(f"{word}_{suffix}" for suffix in ("TYPE", "RANK", "SHAPE", "SIZE", "BYTES"))}


def _comment(name: str) -> str:
    """A name as it can stand in a comment."""
    text = "".join(character if character.isprintable() else "?" for character in name)
    return text.replace("*/", "* /").replace("/*", "/ *").replace("\\", "/")
