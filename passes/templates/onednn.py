"""Matrix products by oneDNN."""

from aiopt.passes.templates.library import library_template

TEMPLATE = library_template("onednn")
