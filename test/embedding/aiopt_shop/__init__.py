"""A package as somebody outside aiopt would write it: a dialect with one op, its lowering, a pass and a target."""
