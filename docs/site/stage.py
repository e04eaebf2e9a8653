"""Lays the pages out for Sphinx: those of the checkout at their own places, what they link to beside them.

A link to a file becomes a download of it, one to a folder that has no page its text alone.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATTERNS = (
    "README.md",
    "CONTRIBUTING.md",
    "docs/*.md",
    "docs/ja/*.md",
    "golden/*.md",
    "cuda/emulator/README.md",
    "tests/emulator/tensor_core/NOTICE.md",
    "conformance/proof/*/SCORES.md",
    "examples/**/README.md",
)
FRONT = "index.md"  # what README.md is called here, so that the site opens with it
_FENCE = re.compile(r"^```.*?^```[ ]*$", re.M | re.S)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:|#)([^)#\s]*)(#[^)\s]*)?\)")


class StageError(ValueError):
    """A page links to what is not there; the message names both."""


def pages() -> list[Path]:
    """The pages that stand in the checkout, relative to it."""
    found = [path.relative_to(ROOT) for pattern in PATTERNS for path in sorted(ROOT.glob(pattern))]
    return [path for path in dict.fromkeys(found) if not {"target", "node_modules", "build"} & {*path.parts}]


def stage(folder: Path) -> None:
    """Write all pages below a folder, and copy what they link to.  Raises StageError."""
    known = {*pages()}
    for page in known:
        text = (ROOT / page).read_text(encoding="utf-8")
        place = folder / _place(page)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("".join(_rewritten(text, page, known, folder)), encoding="utf-8")


def _place(page: Path) -> Path:
    return Path(FRONT) if page == Path("README.md") else page


def _rewritten(text: str, page: Path, known: set[Path], folder: Path) -> Iterator[str]:
    """Yield a page's text with its links as the site has them; what is fenced stays as it is."""
    end = 0
    for fence in _FENCE.finditer(text):
        yield _links(text[end : fence.start()], page, known, folder)
        yield fence[0]
        end = fence.end()
    yield _links(text[end:], page, known, folder)


def _links(text: str, page: Path, known: set[Path], folder: Path) -> str:
    def replace(link: re.Match[str]) -> str:
        image, said, path, anchor = link[1], link[2], link[3], link[4] or ""
        target = Path(os.path.normpath(page.parent / path)) if path else page
        if target in known:
            there = target
        elif target / "README.md" in known:
            there = target / "README.md"
        elif (ROOT / target).is_file():
            (folder / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / target, folder / target)
            there = target
        elif (ROOT / target).is_dir():
            return said
        else:
            raise StageError(f"{page}: links to {path}, which is not there")
        relative = os.path.relpath(_place(there), _place(page).parent)
        return f"{image}[{_links(said, page, known, folder)}]({relative}{anchor})"

    return _LINK.sub(replace, text)
