"""Errors a user can cause. Each says what is wrong, where, and what to do, in one line, and has a stable code.

The pages that explain the codes are in errors.toml; `aiopt --explain CODE` prints one. A code is never given to another
error, and an error keeps its code.
"""

from typing import ClassVar, Self

_LONGEST_WORD, _LONGEST_LINE = 300, 4000  # characters of a message


class AioptError(Exception):
    """Base of all errors a user can cause; `str(error)` is one line fit for `error: ...`."""

    code: ClassVar[str] = "AI0001"

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))

    def at(self, where: str) -> Self:
        """The same error, saying where."""
        self.args = (one_line(f"{where}: {self}"),)
        return self


def one_line(text: str) -> str:
    """A text to show. What a model's names bring into it may be anything: line ends, codes for terminals, megabytes."""
    words = (_shorten(word, _LONGEST_WORD) for word in text.split())
    return "".join(_escape(character) for character in _shorten(" ".join(words), _LONGEST_LINE))


def _escape(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()


def _shorten(text: str, longest: int) -> str:
    """The beginning and the end of a text that is too long, and how long it was."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}[... {len(text) - 2 * half} characters ...]{text[-half:]}"


class ModelError(AioptError):
    """The model file cannot be read or is not a valid model."""

    code = "AI0101"


class UnreadableError(ModelError):
    """A file cannot be opened or read."""

    code = "AI0102"


class NotAModelError(ModelError):
    """A file is no model at all, or the beginning of one."""

    code = "AI0103"


class ExternalDataError(ModelError):
    """The file with the values of a tensor is not there."""

    code = "AI0104"


class OutsideError(ExternalDataError):
    """A tensor names a file that is not in the model's folder."""

    code = "AI0105"


class ShortDataError(ExternalDataError):
    """A tensor names a part of a file that the file does not have."""

    code = "AI0106"


class DefinitionError(ModelError):
    """A name is defined twice, nowhere, or is no name."""

    code = "AI0107"


class OrderError(ModelError):
    """A value is used before the node that makes it: the graph has a cycle, or its nodes are in no order."""

    code = "AI0108"


class NestingError(ModelError):
    """Functions, subgraphs or messages are nested too deep, or without end."""

    code = "AI0109"


class NodeAttributeError(ModelError):
    """An attribute of a node is missing, given twice, or of a wrong type."""

    code = "AI0110"


class NodeInputError(ModelError):
    """A node has too many or too few inputs or outputs, or inputs of types its operator does not take."""

    code = "AI0111"


class TensorDataError(ModelError):
    """The values of a tensor do not fit its type and shape."""

    code = "AI0112"


class DeclarationError(ModelError):
    """An input or output is not what the model declares it to be."""

    code = "AI0113"


class ChangedError(ModelError):
    """The model's file is no longer what it was when it was opened."""

    code = "AI0114"


class WeightsError(ModelError):
    """The values of the constants of MLIR text are missing or do not fit it."""

    code = "AI0115"


class UnsupportedError(AioptError):
    """The model is valid, but uses something this version does not have."""

    code = "AI0201"


class UnsupportedOperatorError(UnsupportedError):
    """The model has a node whose operator, in this domain and opset, aiopt does not have."""

    code = "AI0202"


class UnsupportedOpsetError(UnsupportedError):
    """The model is written in an opset that aiopt does not read."""

    code = "AI0203"


class UnsupportedTypeError(UnsupportedError):
    """A tensor has elements of a type that aiopt, or one of its operators, does not have."""

    code = "AI0204"


class UnsupportedAttributeError(UnsupportedError):
    """An attribute of a node, or its value, is one that aiopt does not have."""

    code = "AI0205"


class RunTimeValueError(UnsupportedError):
    """What a node makes depends on the contents of a tensor that only a run has; `tensor` is its name."""

    code = "AI0206"

    def __init__(self, message: str, tensor: str) -> None:
        super().__init__(message)
        self.tensor = tensor


class LimitError(UnsupportedError):
    """The model is valid, but asks for more memory or time than any machine is given."""

    code = "AI0207"


class StagedError(UnsupportedError):
    """A net that runs in stages was asked for what only a net in one piece can do."""

    code = "AI0208"


class InputError(AioptError):
    """A run was given inputs whose names, shapes or types do not fit."""

    code = "AI0301"


class MissingShapeError(InputError):
    """The model leaves the shape of an input open, and none was given."""

    code = "AI0302"


class GivenShapeError(InputError):
    """A shape was given that does not fit the model."""

    code = "AI0303"


class InputNameError(InputError):
    """An input is missing, or there is none of this name."""

    code = "AI0304"


class InputTypeError(InputError):
    """An input is no array, or one of another element type."""

    code = "AI0305"


class InputShapeError(InputError):
    """An input has another shape than the net."""

    code = "AI0306"


class BindingError(InputError):
    """An array cannot be bound to a net."""

    code = "AI0307"


class NodeRunError(InputError):
    """A node that is not compiled refuses what a run gives it."""

    code = "AI0308"


class OptionError(AioptError):
    """A command-line value or an argument of a function is wrong."""

    code = "AI0401"


class PipelineError(OptionError):
    """A pipeline or the option of a pass is wrong."""

    code = "AI0402"


class MissingPackageError(OptionError):
    """What was asked for needs a package or a tool that is not installed."""

    code = "AI0403"


class PluginError(AioptError):
    """A module of others cannot be loaded, or what it adds has a name that is taken."""

    code = "AI0404"


class IRError(AioptError):
    """An operation breaks its dialect's rules."""

    code = "AI0501"


class ParseError(IRError):
    """IR text or bytecode does not parse."""

    code = "AI0502"


class SpecError(AioptError):
    """A pass produced IR that its level does not allow: a bug in the pass or a wrong entry level."""

    code = "AI0503"


class ShownError(AioptError):
    """What went wrong has been shown as MLIR's own diagnostics; nothing is left to say."""

    code = "AI0504"


class CompileError(AioptError):
    """Lowering or code generation failed."""

    code = "AI0601"


class ComparisonError(CompileError):
    """The net's outputs differ from those of the engine they were compared with."""

    code = "AI0602"


class LinkError(CompileError):
    """The system's linker or compiler failed."""

    code = "AI0603"


class OutputError(AioptError):
    """A result cannot be written where it was asked for."""

    code = "AI0701"


class OverwriteError(OutputError):
    """Writing a result would destroy something else."""

    code = "AI0702"


class ArtifactError(ModelError):
    """A file is not a compiled net."""

    code = "AI0801"


class DamagedArtifactError(ArtifactError):
    """A compiled net is cut off, or its checksums are wrong."""

    code = "AI0802"


class ArtifactVersionError(ArtifactError, CompileError):
    """A compiled net is of a format or of an interface that this aiopt does not have."""

    code = "AI0803"


class ArtifactMachineError(ArtifactError, CompileError):
    """A compiled net is for another kind of CPU."""

    code = "AI0804"


class InstallationError(CompileError):
    """A part of aiopt, or what it stands on, is not installed or not of the version it needs."""

    code = "AI0901"


class StateError(AioptError):
    """A net was asked for what it cannot do now: it has been closed, or has not been run yet."""

    code = "AI0902"


class RunError(AioptError):
    """Compiled code returned a status that is no success."""

    code = "AI0903"


# What commands report of work that ended without an AioptError; see aiopt.support.command.
CRASH, OUT_OF_MEMORY, INTERNAL, SYSTEM = "AI0911", "AI0912", "AI0913", "AI0914"
