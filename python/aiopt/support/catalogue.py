"""What the codes of errors mean, from errors.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from aiopt.support.arguments import did_you_mean
from aiopt.support.errors import OptionError


@dataclass(frozen=True)
class Page:
    """What happened and what to do, of one code."""

    code: str
    title: str
    text: str
    advice: str

    def __str__(self) -> str:
        return f"{self.code}: {self.title}\n\n{self.text}\n\nWhat to do: {self.advice}\n"


@cache
def pages() -> Mapping[str, Page]:
    """All pages by code, rising."""
    found = tomllib.loads(resources.files("aiopt.support").joinpath("errors.toml").read_text())
    return {code: Page(code, **entry) for code, entry in sorted(found.items())}


def explain(code: str) -> str:
    """The page of a code, or for the empty text a list of all. Raises OptionError for a code there is none of."""
    if not code:
        return "".join(f"{page.code}  {page.title}\n" for page in pages().values())
    if code.upper() not in pages():
        guess = did_you_mean(code.upper(), pages())
        raise OptionError(f"no error has the code '{code}'{guess} (aiopt --explain lists all)")
    return str(pages()[code.upper()])
