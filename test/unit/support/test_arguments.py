"""aiopt.support.arguments: command lines as LLVM's tools take them."""

import pytest

from aiopt.support.arguments import Parser, did_you_mean, parse_shapes, split_assignment
from aiopt.support.errors import OptionError


def make_parser() -> Parser:
    parser = Parser("tool", "For tests.")
    parser.add_argument("file", nargs="?", default="-")
    parser.add_argument("-p", "--pass-pipeline")
    parser.add_argument("--emit", choices=["mlir", "obj"])
    return parser


@pytest.mark.parametrize(
    "arguments",
    [
        ["x", "-p", "cse", "--emit", "obj"],
        ["-p=cse", "x", "--emit=obj"],
        ["--emit=obj", "--pass-pipeline=cse", "x"],
        ["-emit=obj", "-pass-pipeline", "cse", "x"],
    ],
)
def test_every_spelling_means_the_same(arguments: list[str]):
    given = make_parser().parse(arguments)
    assert (given.file, given.pass_pipeline.removeprefix("="), given.emit) == ("x", "cse", "obj")


def test_a_dash_alone_is_a_file():
    assert make_parser().parse(["-"]).file == "-"


def test_an_unknown_option_is_said_before_what_is_missing(capsys: pytest.CaptureFixture[str]):
    parser = make_parser()
    parser.add_argument("model")
    with pytest.raises(SystemExit):
        parser.parse(["--qqq"])
    assert capsys.readouterr().err == "error: unknown option '--qqq' [AI0401]\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--emti=obj"], "error: unknown option '--emti', did you mean '--emit'? [AI0401]\n"),
        (["--qqq"], "error: unknown option '--qqq' [AI0401]\n"),
        (["a", "b"], "error: unexpected argument 'b': one input file at a time [AI0401]\n"),
        (["--emit"], "error: --emit: expected one argument [AI0401]\n"),
        (["--emi=obj"], "error: unknown option '--emi', did you mean '--emit'? [AI0401]\n"),
    ],
)
def test_a_mistake_is_one_line_and_status_1(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stop:
        make_parser().parse(arguments)
    assert stop.value.code == 1
    assert capsys.readouterr().err == message


def test_guesses_only_close_words():
    assert did_you_mean("canonicalise", ["cse", "canonicalize"]) == ", did you mean 'canonicalize'?"
    assert did_you_mean("x", ["cse"]) == ""


def test_shapes():
    assert parse_shapes(["x=1x3x48x320", "scalar=", "a=b=7"]) == {"x": (1, 3, 48, 320), "scalar": (), "a=b": (7,)}


@pytest.mark.parametrize("text", ["x", "=1x2", "x=1x", "x=1xa", "x=-1x2", "x=1,2", "x=²"])
def test_bad_shapes(text: str):
    with pytest.raises(OptionError, match="--shape"):
        parse_shapes([text])


def test_a_shape_given_twice():
    with pytest.raises(OptionError, match="gives input 'x' twice"):
        parse_shapes(["x=1", "x=2"])


def test_an_assignment_needs_both_sides():
    assert split_assignment("--input", "x=a.npy", "x.npy") == ("x", "a.npy")
    with pytest.raises(OptionError, match=r"--input x: expected NAME=..., as in --input x=x.npy"):
        split_assignment("--input", "x", "x.npy")
