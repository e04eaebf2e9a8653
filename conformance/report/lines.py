"""Lines on a terminal: prose is folded to its width, names and commands stay whole, and in a pipe all lines do."""

from __future__ import annotations

import textwrap

from rich.console import Console
from rich.markup import escape

from conformance.judging.results import Status

_ASIDE = (Status.WAIVED, Status.TOO_FINE, Status.NOT_SUPPORTED, Status.NOT_RUN)
_STYLES = {Status.PASS: "green", **dict.fromkeys(_ASIDE, "yellow")}
NAMED = 4  # names in a line that can have many


def printed(console: Console, text: str) -> None:
    """Print a line of markup as it is: never broken, so that what follows in a pipe finds it whole."""
    console.print(text, highlight=False, soft_wrap=True)


def prose(console: Console, text: str, indent: int = 0, style: str = "") -> None:
    """Print plain words, on a terminal folded between them; each line begins `indent` columns in."""
    margin = " " * indent
    lines = [margin + text]
    if console.is_terminal:
        lines = textwrap.wrap(
            text, console.width, initial_indent=margin, subsequent_indent=margin, break_long_words=False,
            break_on_hyphens=False,
        )  # fmt: skip
    for line in lines:
        console.print(line, style=style or None, markup=False, highlight=False, soft_wrap=True)


def styled(status: Status) -> str:
    """Return a status in its colour, as markup."""
    return f"[{_STYLES.get(status, 'red')}]{status}[/]"


def listed(names: list[str], every: bool = False) -> str:
    """Return names in a line, as markup: the first few and how many more there are, or all."""
    shown = names if every else names[:NAMED]
    more = f" and {len(names) - len(shown)} more (-v names them)" if len(names) > len(shown) else ""
    return escape(", ".join(shown)) + more
