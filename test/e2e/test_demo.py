"""The main job by its command: a line of text, rendered, read by the compiled recogniser, checked."""

import re
from pathlib import Path

from e2e.commands import command


def test_reads_the_line_and_says_what_it_took(tmp_path: Path) -> None:
    image = tmp_path / "line.png"
    done = command("aiopt-demo-ocr", "Total: $1,234.56", "--repeat", "3", "--image", image)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    shown = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert shown["read"].replace(" ", "") == "Total:$1,234.56"
    assert re.fullmatch(r"[\d.]+ ms per run \(median of 3, 1 thread\(s\)\)", shown["time"])
    assert int(shown["launches"]) > 0
    assert re.fullmatch(r"\d+ bytes \(lower bound \d+\)", shown["arena"])
    assert float(shown["difference"].split()[0]) <= 1e-4
    assert image.read_bytes().startswith(b"\x89PNG")
