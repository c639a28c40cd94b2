"""lit. FILECHECK=<path of LLVM's FileCheck> replaces PyPI's filecheck, AIOPT=mlir-opt the command aiopt."""

import importlib.util
import os
import sys
from pathlib import Path

import lit.formats

_HERE = Path(__file__).resolve().parent


def _bin_of(package: str) -> list[str]:
    """The `bin` folder a tools wheel puts into this package, if it is installed."""
    spec = importlib.util.find_spec(package)
    places = spec.submodule_search_locations if spec and spec.submodule_search_locations else []
    return [str(Path(place) / "bin") for place in places if (Path(place) / "bin").is_dir()]


config.name = "aiopt"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".s"]  # .s: programs for NPUs
config.excludes = ["Inputs"]
config.test_source_root = str(_HERE)
config.test_exec_root = str(_HERE.parents[1] / "build" / "lit")

# The commands of the environment lit runs in come first: `aiopt` must be the one that belongs to this interpreter.
_path = [str(Path(sys.executable).parent), *_bin_of("llvm"), *_bin_of("mlir"), os.environ.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(_path)
for _name in ("HOME", "XDG_CACHE_HOME", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE"):
    if _name in os.environ:
        config.environment[_name] = os.environ[_name]

config.environment["AIOPT_CACHE"] = "0"  # tests of the cache turn it on, in a folder of their own

if os.environ.get("AIOPT"):
    # Tests of upstream's passes alone run in mlir-opt as well: AIOPT=mlir-opt lit test/lit/tools/upstream.
    config.substitutions.append((r"(?<![\w./-])aiopt(?![\w./-])", os.environ["AIOPT"]))
if os.environ.get("FILECHECK"):
    # Only the command, never a part of a file's name.
    config.substitutions.append((r"(?<![\w./-])filecheck(?![\w./-])", os.environ["FILECHECK"]))
config.substitutions.append(("%python", sys.executable))
