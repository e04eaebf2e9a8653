"""What a module's code raised, as a line that says where, and the traceback of what was called below it."""

from __future__ import annotations

import traceback
from pathlib import Path

_OURS = Path(__file__).parent


class Raised(Exception):  # noqa: N818
    """A function has raised, or what it returned is not what its operation gives.

    line: what, and where in the candidate's files.  trace: the rest.  refuses: whether the function itself has raised,
    which is how a function of Python refuses a call.  declines: whether it has said by its kind that it has not got
    what was asked for.
    """

    def __init__(self, line: str, trace: str = "", refuses: bool = False, declines: bool = False) -> None:
        super().__init__("\n".join(filter(None, (line, trace))))
        self.line, self.trace, self.refuses, self.declines = line, trace, refuses, declines


def raised(error: BaseException, root: Path, refuses: bool = False) -> Raised:
    """Return an exception of the candidate's: its kind and words, and the last place in a file below `root`."""
    declines = refuses and isinstance(error, NotImplementedError)
    words = "".join(traceback.format_exception_only(error)).strip()
    said, *more = words.splitlines()
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    theirs = [frame for frame in frames if Path(frame.filename).is_relative_to(root)]
    if not theirs:
        return Raised(said, "\n".join([*more, *traceback.format_list(frames)]).rstrip(), refuses, declines)
    last = theirs[-1]
    place = f" ({Path(last.filename).relative_to(root)}:{last.lineno}, in {last.name})"
    trace = traceback.format_list(frames[frames.index(theirs[0]) :])
    return Raised(said + place, "\n".join([*more, *trace]).rstrip(), refuses, declines)


def _is_ours(file: str) -> bool:
    return Path(file).is_relative_to(_OURS) or file.startswith("<frozen ")
