"""The flags of `aiopt` as data: mlir-opt's with its names and meaning, and aiopt's own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """How a flag takes its value."""

    SWITCH = "switch"  # --x, --x=true, --x=false
    VALUE = "value"  # --x=v, --x v
    MAYBE = "maybe"  # --x, --x=v
    MANY = "many"  # as VALUE, any number of times


@dataclass(frozen=True)
class Flag:
    """One flag: its name without dashes, what it does, what values it takes, and whether LLVM itself obeys it."""

    name: str
    help: str
    kind: Kind = Kind.SWITCH
    metavar: str = ""
    choices: tuple[str, ...] = ()
    number: bool = False
    native: bool = False
    default: object = None

    @property
    def key(self) -> str:
        """The name as an attribute: `mlir_timing`."""
        return self.name.replace("-", "_")


def _value(name: str, metavar: str, help: str, kind: Kind = Kind.VALUE, **more: object) -> Flag:
    return Flag(name, help, kind, metavar, **more)  # pyright: ignore[reportArgumentType]


def _native(name: str, help: str) -> Flag:
    return Flag(name, help, native=True)


OURS = (
    _value("o", "filename", "Output filename; '-' (default) is the standard output", default="-"),
    _value("p", "string", "Short for --pass-pipeline"),
    _value("emit", "kind", "What to write", choices=("mlir", "llvm", "asm", "obj"), default="mlir"),
    _value("cpu", "name", "What --emit makes code for, as znver4 (default: host)", default="host"),
    _value("shape", "name=1x3x48x320", "Shape of an input of an ONNX model", Kind.MANY),
    Flag("elide-weights", "Write no weights file; such text cannot be loaded again"),
    _value("load-python", "module", "Python module with dialects, passes or targets of others", Kind.MANY),
    _value("emit-schedule", "pass", "Write what a schedule would do, for mlir-opt --transform-interpreter"),
    _value("emit-irdl", "dialect", "Print our dialects for mlir-opt --irdl-file=", Kind.MAYBE),
    _value("show-pipeline", "name", "Print the passes a named pipeline stands for and exit"),
)

UPSTREAM = (
    _value("pass-pipeline", "string", "Textual description of the pass pipeline to run"),
    Flag("dump-pass-pipeline", "Print the pipeline that will be run"),
    Flag("list-passes", "Print the list of registered passes and exit"),
    Flag("show-dialects", "Print the list of registered dialects and exit"),
    Flag("allow-unregistered-dialect", "Allow operation with no registered dialects"),
    _value("irdl-file", "filename", "IRDL file to register before processing the input"),
    Flag("no-implicit-module", "Disable implicit addition of a top-level module op during parsing"),
    _value("split-input-file", "string", "Split the input file into chunks at the marker and process each", Kind.MAYBE),
    _value("output-split-marker", "string", "Split marker to use for merging the output"),
    _value(
        "verify-diagnostics",
        "value",
        "Check that emitted diagnostics match expected-* lines on the corresponding line",
        Kind.MAYBE,
        choices=("all", "only-expected"),
    ),
    Flag("verify-each", "Run the verifier after each transformation pass", default=True),
    Flag("verify-roundtrip", "Round-trip the IR after parsing and ensure it succeeds"),
    Flag("emit-bytecode", "Emit bytecode when generating output"),
    _value("emit-bytecode-version", "value", "Use specified bytecode when generating output", number=True),
    Flag("run-reproducer", "Run the pipeline stored in the reproducer"),
    _value("mlir-generate-reproducer", "filename", "Generate an mlir reproducer (no crash required)"),
    _value("mlir-pass-pipeline-crash-reproducer", "filename", "Generate a reproducer if the pass manager fails"),
    Flag("mlir-pass-pipeline-local-reproducer", "Generate a reproducer with the smallest pipeline"),
    Flag("mlir-print-ir-before-all", "Print IR before each pass"),
    Flag("mlir-print-ir-after-all", "Print IR after each pass"),
    _value("mlir-print-ir-before", "pass-arg", "Print IR before specified passes", Kind.MANY),
    _value("mlir-print-ir-after", "pass-arg", "Print IR after specified passes", Kind.MANY),
    Flag("mlir-print-ir-after-change", "When printing the IR after a pass, only print if the IR changed"),
    Flag("mlir-print-ir-after-failure", "When printing the IR after a pass, only print if the pass failed"),
    Flag("mlir-print-ir-module-scope", "When printing IR around passes, always print the top-level operation"),
    _value("mlir-print-ir-tree-dir", "string", "Print the IR around passes into files below this directory"),
    Flag("mlir-timing", "Display execution times"),
    _value("mlir-timing-display", "value", "Display method for timing data", choices=("list", "tree"), default="tree"),
    _value("mlir-output-format", "value", "Output format for timing data", choices=("text", "json"), default="text"),
    Flag("mlir-pass-statistics", "Display the statistics of each pass"),
    _value(
        "mlir-pass-statistics-display",
        "value",
        "Display method for pass statistics",
        choices=("list", "pipeline"),
        default="pipeline",
    ),
    _value("remarks-filter", "regex", "Show all remarks: passed, missed, failed, analysis"),
    _value("remarks-filter-passed", "regex", "Show passed remarks"),
    _value("remarks-filter-missed", "regex", "Show missed remarks"),
    _value("remarks-filter-failed", "regex", "Show failed remarks"),
    _value("remarks-filter-analyse", "regex", "Show analysis remarks"),
    _value("remark-format", "value", "Format for remark output", choices=("emitRemark", "yaml"), default="emitRemark"),
    _value("remark-policy", "value", "Policy for remark output", choices=("all", "final"), default="all"),
    _value("remarks-output-file", "filename", "Output file for yaml remarks", default="mlir-remarks.yaml"),
    Flag("mlir-disable-threading", "Disable multi-threading within MLIR (aiopt never uses it)"),
    _native("mlir-print-debuginfo", "Print debug info in MLIR output"),
    _native("mlir-pretty-debuginfo", "Print pretty debug info in MLIR output"),
    _native("mlir-print-op-generic", "Print the generic op form"),
    _native("mlir-print-local-scope", "Print with local scope and inline information"),
    _native("mlir-print-skip-regions", "Skip regions when printing ops"),
    _native("mlir-print-assume-verified", "Skip op verification when using custom printers"),
    _native("mlir-print-value-users", "Print users of operation results and block arguments as a comment"),
    _native("mlir-print-unique-ssa-ids", "Print unique SSA ID numbers across all regions"),
    _native("mlir-use-nameloc-as-prefix", "Print SSA IDs using NameLocs as prefixes"),
    _value(
        "mlir-elide-elementsattrs-if-larger", "uint", "Elide ElementsAttrs that are larger", native=True, number=True
    ),
    _value(
        "mlir-elide-resource-strings-if-larger", "uint", "Elide resources that are larger", native=True, number=True
    ),
    _value(
        "mlir-print-elementsattrs-with-hex-if-larger",
        "long",
        "Print DenseElementsAttrs that are larger as hex (-1: never)",
        native=True,
        number=True,
    ),
    _native("mlir-print-op-on-diagnostic", "Attach the operation to a diagnostic as a note"),
    _native("mlir-print-stacktrace-on-diagnostic", "Attach the stack trace to a diagnostic as a note"),
    Flag("mlir-disable-diagnostic-notes", "Disable diagnostic notes"),
    _value(
        "mlir-diagnostic-verbosity-level",
        "value",
        "Choose level of diagnostic information",
        choices=("errors", "warnings", "remarks"),
        default="remarks",
    ),
    _native("debug", "Enable debug output"),
    _value("debug-only", "debug string", "Enable a specific type of debug output", native=True),
)

GENERAL = (
    Flag("help", "Display available options"),
    Flag("help-list", "Display list of available options"),
    _value("explain", "code", "Display what the code of an error means, or all codes", Kind.MAYBE),
    Flag("version", "Display the versions of aiopt and LLVM"),
)

FLAGS = {flag.name: flag for flag in (*OURS, *UPSTREAM, *GENERAL)}

# What mlir-opt has and aiopt does not, with the reason, which is the answer to somebody who uses it.
LEFT_OUT = {
    **dict.fromkeys(("log-actions-to", "log-mlir-actions-filter", "profile-actions-to"), "actions are not logged"),
    **dict.fromkeys(("mlir-debug-counter", "mlir-print-debug-counter"), "there are no debug counters"),
    "mlir-enable-debugger-hook": "there is no debugger hook",
    **dict.fromkeys(("load-dialect-plugin", "load-pass-plugin"), "plugins are Python modules, not C++ libraries"),
    "mlir-very-unsafe-disable-verifier-on-parsing": "IR is always verified when it is read",
}
