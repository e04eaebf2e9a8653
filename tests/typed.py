"""What is typed on the pages, held to the programs that it calls without calling them.

Sessions, installations, and commands that no test can run: a session must exist, a command must take its options.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import tomllib
from collections.abc import Iterator, Sequence

from conformance.commands import cli
from tests.pages import ROOT
from training.settings import read_settings

NOXFILE = (ROOT / "noxfile.py").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SESSIONS = frozenset(re.findall(r"^@nox\.session\n(?:@nox\.parametrize.*\n)?def (\w+)\(session", NOXFILE, re.MULTILINE))
INSTALLERS = ("pip", "pipx", "uvx")
# The command that a session hands its arguments to, and the words that it adds.
HANDED_ON = {
    "conformance": ("run", "--on", "stub"),
    "memcheck": ("run", "--on", "emulated"),
    "races": ("run", "--on", "emulated"),
    "readings": ("readings",),
    "faults": ("faults",),
    "mutants": ("mutants",),
    "held_out": ("held-out", "--library", "libassayer_stub.so"),
    "golden": ("golden",),
    "language": ("language", "--backend", "reference"),
    "languages": ("languages",),
    "false_alarms": ("false-alarms",),
    "wild": ("false-alarms",),
}


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each line of shell, lines that end in a backslash joined, and its words without comments.

    Commands that `&&` joins are lines of their own.
    """
    for line in text.replace("\\\n", " ").splitlines():
        for part in line.split(" && "):
            if words := shlex.split(part, comments=True):
                yield part, words


def is_only_checked(words: Sequence[str]) -> bool:
    """Whether a command is a session or an installation, which tests do not start."""
    return _program(words)[:1] in ([name] for name in ("nox", *INSTALLERS))


def check(words: Sequence[str]) -> None:
    """Hold a command to its program.  Raises ValueError or SystemExit, which name what it does not take."""
    match _program(words):
        case ["nox", *rest]:
            _check_nox(rest)
        case [("pip" | "pipx" | "uvx"), *rest]:
            _check_installation(rest)
        case ["assayer", *rest] | ["python", "-m", "conformance", *rest]:
            _parse(rest)
        case ["python", "-m", "training", *rest]:
            read_settings(rest)
        case ["python", "-m", module, *_]:
            if importlib.util.find_spec(module) is None:
                raise ValueError(f"expected a module of this project, got {module}")


def _program(words: Sequence[str]) -> list[str]:
    """The words without variables before them, and without what starts them several times."""
    words = [*words]
    while words and re.match(r"\w+=", words[0]):
        words.pop(0)
    return words[words.index("python") :] if words[:1] == ["mpirun"] and "python" in words else words


def _check_nox(words: Sequence[str]) -> None:
    session, *rest = words[1:] if words[:1] == ["-s"] else [None, *words]
    if session is None:
        if rest not in ([], ["-l"]):
            raise ValueError(f"expected nox, nox -l or nox -s SESSION, got {rest}")
        return
    if session not in SESSIONS:
        raise ValueError(f"expected a session of noxfile.py, got {session}")
    if rest[:1] not in ([], ["--"]):
        raise ValueError(f"nox -s {session}: expected -- before its arguments, got {rest}")
    if session in HANDED_ON and rest:
        _check_handed_on(session, rest[1:])


def _check_handed_on(session: str, arguments: Sequence[str]) -> None:
    command, *added = HANDED_ON[session]
    given = ("--library", "--module", "--step", "--outputs", "--on", *added[:1])
    own = any(word.split("=")[0] in given for word in arguments)
    _parse([command, *([] if own else added), *arguments])


def _parse(words: Sequence[str]) -> None:
    try:
        cli.build_parser().parse_args(words)
    except SystemExit as ended:
        if ended.code:  # --help ends with 0
            raise


def _check_installation(words: Sequence[str]) -> None:
    """Hold what is installed to the versions and extras that the project states."""
    for word in words:
        name, equals, version = word.replace("@", "==").partition("==")
        if equals and f"{name}=={version}" not in NOXFILE + (ROOT / "constraints.txt").read_text(encoding="utf-8"):
            raise ValueError(f"expected a version that the project pins, got {word}")
        extras = re.search(r"\[(.+)\]", word)
        for extra in extras[1].split(",") if extras else ():
            if extra not in PROJECT["project"]["optional-dependencies"]:
                raise ValueError(f"expected an extra of pyproject.toml, got {extra}")
