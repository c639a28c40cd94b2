"""Lowering rules from `ai` ops to linalg on tensors, one file per op family: importing them fills rules.RULES."""

import importlib
import pkgutil

for _info in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_info.name}")
