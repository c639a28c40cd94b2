"""Packages of others, as pip would install them, and commands that find them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

EMBEDDING = Path(__file__).resolve().parents[1] / "embedding"
SHOP = {
    "aiopt.dialects": "shop = aiopt_shop.shop",
    "aiopt.passes": "shop = aiopt_shop.passes",
    "aiopt.targets": "shop = aiopt_shop.target",
}


def install(site: Path, entry_points: Mapping[str, str], name: str = "aiopt_shop") -> None:
    """What pip leaves of a distribution that has these entry points; its modules lie elsewhere."""
    info = site / f"{name}-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    text = "\n".join(f"[{group}]\n{line}\n" for group, line in entry_points.items())
    (info / "entry_points.txt").write_text(text)


def run(site: Path, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run `python WORDS` with a site folder and test/embedding on the path; output captured, status not checked."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(EMBEDDING)]), "AIOPT_CACHE": "0"}
    command = [sys.executable, *words]
    return subprocess.run(command, input=text, capture_output=True, text=True, env=environment, check=False)


def aiopt(site: Path, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run `aiopt WORDS` in such a process."""
    main = "import sys; from aiopt.tools.aiopt import main; sys.exit(main())"
    return run(site, "-c", main, *words, text=text)
