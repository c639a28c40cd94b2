"""Other names for the symbols of a compiled object.

Source: the ELF-64 object file format, version 1.5 draft 2 (sections, string and symbol tables).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

_SECTION_TABLE = struct.Struct("<Q")  # of the header: e_shoff
_SECTION_TABLE_AT = 0x28
_SECTION_COUNT = struct.Struct("<HH")  # of the header: e_shentsize, e_shnum
_SECTION_COUNT_AT = 0x3A
_SECTION = struct.Struct("<IIQQQQIIQQ")  # name, type, flags, address, offset, size, link, info, alignment, entry size
_EXTENT = struct.Struct("<QQ")  # of a section: offset, size
_EXTENT_AT = 24
_NAME = struct.Struct("<I")  # the first field of a symbol
_SYMBOL_BYTES = 24
_SYMBOL_TABLE = 2  # a section's type


def rename_symbols(code: bytes, names: Mapping[str, str]) -> bytes:
    """The object with its symbols called otherwise (old name -> new name); what it has no symbol for is passed over.

    The string table, with the new names at its end, moves to the end of the file; all else stays where it is.
    """
    out = bytearray(code)
    (table,) = _SECTION_TABLE.unpack_from(code, _SECTION_TABLE_AT)
    size, count = _SECTION_COUNT.unpack_from(code, _SECTION_COUNT_AT)
    sections = [_SECTION.unpack_from(code, table + i * size) for i in range(count)]
    _, _, _, _, first, length, link, *_ = next(section for section in sections if section[1] == _SYMBOL_TABLE)
    _, _, _, _, start, strings_length, *_ = sections[link]
    strings = bytearray(code[start : start + strings_length])
    for symbol in range(first, first + length, _SYMBOL_BYTES):
        (at,) = _NAME.unpack_from(code, symbol)
        old = strings[at : strings.index(0, at)].decode()
        if old in names:
            _NAME.pack_into(out, symbol, len(strings))
            strings += names[old].encode() + b"\0"
    _EXTENT.pack_into(out, table + link * size + _EXTENT_AT, len(out), len(strings))
    return bytes(out + strings)
