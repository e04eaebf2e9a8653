"""Keeps pages in Japanese in step with those in English: `python docs/site/translated.py` once both say the same.

The last line of a page in docs/ja holds the hashes of the English text it was made of, and of its own.  A test fails
where either has changed since; whoever changes one side reads the other, and then lets this write the line anew.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "ja"
_LINE = re.compile(r"^<!-- of (\S+): sha256 ([0-9a-f]{16}), of this text: sha256 ([0-9a-f]{16}) -->\n\Z", re.M)
_FENCE = re.compile(r"^```.*?^```$", re.M | re.S)


def translations() -> list[Path]:
    """The pages in Japanese."""
    return sorted(FOLDER.glob("*.md"))


def english(page: Path) -> Path:
    """The page that a translation is of."""
    return ROOT / page.name if page.name == "README.md" else ROOT / "docs" / page.name


def problems(page: Path) -> list[str]:
    """What is out of step: a sentence each; nothing where both sides are as they were when they were compared."""
    text, original = page.read_text(encoding="utf-8"), english(page)
    line = _LINE.search(text)
    if not line:
        return [f"{page.name}: expected its last line to hold two hashes: python docs/site/translated.py writes it"]
    source = original.read_text(encoding="utf-8")
    found = []
    if line[2] != _hash(source):
        found.append(f"{page.name}: {line[1]} has changed since; change this page too")
    if line[3] != _hash(text[: line.start()]):
        found.append(f"{page.name}: has changed; look whether {line[1]} says the same")
    if _FENCE.findall(source) != _FENCE.findall(text):
        found.append(f"{page.name}: its blocks are not those of {line[1]}, which tests run")
    return found


def accept(page: Path) -> None:
    """Write the last line anew."""
    text, original = _LINE.sub("", page.read_text(encoding="utf-8")), english(page)
    source = original.read_text(encoding="utf-8")
    named = original.relative_to(ROOT)
    line = f"<!-- of {named}: sha256 {_hash(source)}, of this text: sha256 {_hash(text)} -->\n"
    page.write_text(text + line, encoding="utf-8")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    for each in translations():
        accept(each)
