"""Errors a user can cause. Each says what is wrong, where, and what to do, in one line."""

from typing import Self


class AioptError(Exception):
    """Base of all errors a user can cause; `str(error)` is one line fit for `error: ...`."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))

    def at(self, where: str) -> Self:
        """The same error, saying where."""
        self.args = (f"{where}: {self}",)
        return self


class ModelError(AioptError):
    """The model file cannot be read or is not a valid model."""


class UnsupportedError(AioptError):
    """The model is valid, but uses something this version does not have."""


class RunTimeValueError(UnsupportedError):
    """What a node makes depends on the contents of a tensor that only a run has; `tensor` is its name."""

    def __init__(self, message: str, tensor: str) -> None:
        super().__init__(message)
        self.tensor = tensor


class LimitError(UnsupportedError):
    """The model is valid, but asks for more memory than any machine is given."""


class InputError(AioptError):
    """A run was given inputs whose names, shapes or types do not fit."""


class OptionError(AioptError):
    """A pipeline, pass option or command-line value is wrong."""


class IRError(AioptError):
    """IR text does not parse, or an operation breaks its dialect's rules."""


class SpecError(AioptError):
    """A pass produced IR that its level does not allow: a bug in the pass or a wrong entry level."""


class CompileError(AioptError):
    """Lowering or code generation failed."""


class PluginError(AioptError):
    """A module of others cannot be loaded, or what it adds has a name that is taken."""


class OutputError(AioptError):
    """A result cannot be written where it was asked for."""


class ShownError(AioptError):
    """What went wrong has been shown as MLIR's own diagnostics; nothing is left to say."""
