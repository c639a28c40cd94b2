"""Matrix products by OpenBLAS."""

from aiopt.passes.templates.library import library_template

TEMPLATE = library_template("openblas")
