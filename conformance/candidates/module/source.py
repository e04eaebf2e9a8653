"""Which Python module is to be judged: where it lies, what it is imported by, and whose arrays its functions take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from bindings import LibraryError
from bindings.header.records import Function
from bindings.header.signature import Signature

_WORDS = "module"  # how a worker's process is told that its candidate is none of the linker's
_AFFORDABLE = 1 << 20  # the largest size that is asked for where it has to be refused


@dataclass(frozen=True)
class Module:
    """`path`: its file.  `name`: by which it is imported, "" for a file alone.  `root`: where packages are looked for.
    `framework`: whose arrays its functions take, "" where it says so itself.  `step`: the function that is a whole
    training step, where that is judged and not its operations."""

    path: Path
    name: str = ""
    root: Path = Path()
    framework: str = ""
    step: str = ""

    @property
    def asked(self) -> str:
        """What it was asked for by: the package and module, or the file."""
        return self.name or str(self.path)

    @property
    def of_step(self) -> str:
        """What names its step behind the module: `:function`; nothing where its operations are judged."""
        return f":{self.step}" if self.step else ""

    @property
    def words(self) -> str:
        """The module as one word of a command line; a library's begins with a slash."""
        return "\n".join((_WORDS, self.framework, self.step, self.name, str(self.root), str(self.path)))


def read(words: str) -> Module | None:
    """Return the module that a word of a command line stands for; None where it is a library's path."""
    if not words.startswith(f"{_WORDS}\n"):
        return None
    _, framework, step, name, root, path = words.split("\n", 5)
    return Module(Path(path), name, Path(root), framework, step)


def find(text: str, framework: str = "") -> Module:
    """Return the module that `file.py` or `package.module` names; nothing of it is run.

    Packages are looked for in the working directory and where Python looks for them.  Raises LibraryError.
    """
    here = Path.cwd()
    path = Path(text)
    if path.suffix == ".py" or path.exists():
        if not path.is_file():
            raise LibraryError(f"{text}: expected a file of Python, got {'a folder' if path.is_dir() else 'none'}")
        if path.suffix != ".py":
            raise LibraryError(f"{text}: expected a file of Python, whose name ends in .py")
        return Module(path.resolve(), "", path.resolve().parent, framework)
    return Module(_located(text, here), text, here, framework)


def find_step(text: str, framework: str = "") -> Module:
    """Return the module of a training step that `file.py:function` or `package.module:function` names.

    Nothing of it is run.  Raises LibraryError.
    """
    module, colon, function = text.rpartition(":")
    if not (colon and module and function.isidentifier()):
        raise LibraryError(f"{text}: expected FILE.py:FUNCTION or package.module:function")
    return replace(find(module, framework), step=function)


def _located(name: str, here: Path) -> Path:
    """The file of a module by its name, found without importing the packages that it lies in."""
    where: Sequence[str] | None = None
    parts = name.split(".")
    for place, part in enumerate(parts):
        spec = PathFinder.find_spec(part, where and [*where]) if where else _first(part, here)
        inner = place + 1 < len(parts)
        if spec is None or (inner and not spec.submodule_search_locations):
            missing = ".".join(parts[: place + 1])
            raise LibraryError(f"{name}: expected a file of Python or a module, found no {missing}")
        where = [*(spec.submodule_search_locations or ())]
    if spec is None or spec.origin is None:
        raise LibraryError(f"{name}: expected a module of Python, got a folder without one")
    return Path(spec.origin).resolve()


def _first(part: str, here: Path) -> Any:
    return PathFinder.find_spec(part, [str(here)]) or PathFinder.find_spec(part)


def can_be_made(function: Function, override: Mapping[str, Any]) -> bool:
    """Whether a call with these arguments in place of good ones can be made of a Python function.

    It is given arrays that are read, and numbers that no array's shape tells: other sizes, lengths of arrays and the
    arrays that it returns are not its to be given.  A size that is far too large would take the machine's memory.
    """
    signature = Signature(function)
    given = {parameter.name for parameter in (*signature.given, *signature.scalars)}
    sizes = {name for parameter in function.parameters for axis in parameter.shape for name in axis.size.names}
    return all(
        name.partition("[")[0] in given and not (name in sizes and value > _AFFORDABLE)
        for name, value in override.items()
    )
