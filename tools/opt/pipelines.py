"""Which pipeline a command line asks for."""

from __future__ import annotations

from aiopt.passes import native
from aiopt.passes.pipeline_text import MODULE, Nest, Step, find_step, parse
from aiopt.passes.registry import registered
from aiopt.passes.reproducer import read_pipeline
from aiopt.support.errors import OptionError, PipelineError
from aiopt.tools.opt.command_line import Given, UsageError, unknown
from aiopt.tools.opt.flags import FLAGS

BOTH = "'-pass-pipeline' option can't be used with individual pass options"


def asked_for(given: Given, source: str) -> tuple[Nest | None, bool]:
    """The pipeline, if there is one, and whether passes for functions may stand where modules are worked on.

    source: the text of the input, in which a reproducer has its pipeline.
    Raises UsageError for a flag that is no pass, OptionError for a pipeline that cannot be.
    """
    flags = tuple(_pass_of(name, options) for name, options in given.passes)
    text = given.values.pass_pipeline if given.values.pass_pipeline is not None else given.values.p
    if text is not None and flags:
        raise UsageError(f"<unknown>:0: error: {BOTH}\n")
    if given.values.run_reproducer:
        return Nest(MODULE, (*parse(read_pipeline(source)).items, *flags)), True
    if text:
        return parse(text), False
    return (Nest(MODULE, flags), True) if flags else (None, True)


def check_filters(names: list[str], flag: str) -> None:
    """Raise UsageError if one of these is no pass."""
    for name in names:
        if not (native.is_registered(name) or name in registered()):
            raise UsageError(f"aiopt: for the --{flag} option: Cannot find option named '{name}'!\n")


def show(name: str) -> str:
    """The passes a named pipeline stands for, one a line, those of pipelines in it further to the right."""
    cls = registered().get(name)
    if cls is None and not native.is_registered(name):
        raise unknown_pipeline(name)
    return "\n".join(_shown(find_step(name), 0)) + "\n"


def unknown_pipeline(name: str) -> OptionError:
    """The error for a name that is no pipeline."""
    from aiopt.support.arguments import did_you_mean  # brings argparse

    return PipelineError(f"no pipeline is called '{name}'{did_you_mean(name, registered())} (see aiopt --list-passes)")


def _shown(step: Step, depth: int) -> list[str]:
    from aiopt.passes.base import NamedPipeline

    lines = ["  " * depth + str(step)]
    if isinstance(step, NamedPipeline):
        for text in step.passes():
            for inner in parse(text).items:
                lines += _shown(inner, depth + 1)
    return lines


def _pass_of(name: str, options: str) -> Step:
    if native.is_registered(name) or name in registered():
        return find_step(name, options)
    from aiopt.passes.listing import upstream_names  # starts a process, which only this error is worth

    raise unknown(name, options, [*FLAGS, *registered(), *upstream_names()])
