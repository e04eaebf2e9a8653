"""What a browser would not find: links of finished pages to files and places that are not there, and to elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_FETCHED = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src")}


class _Page(HTMLParser):
    """Collects the places of a page, what it links to, and what a browser fetches with it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: set[str] = set()
        self.fetched: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id" and value:
                self.places.add(value)
            elif (tag, name) in _FETCHED and value:
                self.fetched.add(value)
            elif (tag, name) == ("a", "href") and value:
                self.links.add(value)


def broken(folder: Path) -> list[str]:
    """A sentence for each link that leads nowhere, and each file that a browser would fetch from elsewhere."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    return [f"{path.relative_to(folder)}: {said}" for path, page in pages.items() for said in _of(path, page, pages)]


def _of(path: Path, page: _Page, pages: dict[Path, _Page]) -> Iterator[str]:
    for link in sorted(page.links | page.fetched):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            if link in page.fetched and parts.scheme != "data":
                yield f"fetches {link}, which lies elsewhere"
            continue
        target = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
        if not target.exists():
            yield f"links to {link}: no such file"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
            yield f"links to {link}: no such place"
