"""Settings from the command line and from a TOML file; flags win."""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import groupby
from pathlib import Path
from typing import Any

from bindings.places import module

from .declared import DECLARED, Settings
from .setting import Setting, SettingsError

EXAMPLES = f"""examples:
  # the tiny model on the text that every Python carries
  python -m {module("training.data")} --output shards
  %(prog)s --config tiny --data shards
  # on the C library, longer sequences, settings of a file; flags win
  %(prog)s --settings run.toml --backend stub --seq 256
  # on four processes of one machine, or of several (-hosts A,B); each holds a quarter of the experts
  mpirun -n 4 %(prog)s --config tiny --data shards --expert-parallel
  # go on with a run that was stopped
  %(prog)s --config tiny --data shards --resume
"""


def read_settings(arguments: Sequence[str] | None = None) -> tuple[Settings, bool]:
    """Return (settings, whether to go on with a run that was stopped). Raises SettingsError."""
    options, unknown = _parser().parse_known_args(arguments)
    for word in unknown:
        flags = ["--settings", "--resume", *(each.flag for each in DECLARED.values())]
        raise SettingsError(_unknown("the command line", word.partition("=")[0], flags))
    given = vars(options)
    file, resume = given.pop("settings", None), given.pop("resume")
    values = _from_file(Path(file)) if file else {}
    values |= {name: DECLARED[name].from_text(text) for name, text in given.items()}
    for each in DECLARED.values():
        if each.needed and each.name not in values:
            raise SettingsError(f"{each.flag}: expected the {each.help}, got nothing")
    return Settings(**values), resume


def _from_file(file: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"--settings: {file}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"--settings: {file}: not TOML ({error})") from None
    for name in content:
        if name not in DECLARED:
            raise SettingsError(_unknown(str(file), name, DECLARED))
    return {name: DECLARED[name].from_toml(value, file) for name, value in content.items()}


def _unknown(place: str, name: str, known: Any) -> str:
    near = get_close_matches(name, known, 1)
    hint = f"; did you mean {near[0]}?" if near else " (--help lists those there are)"
    return f"{place}: {name}: there is no such setting{hint}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {module('training')}",
        description="Train a model on token shards.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    parser.add_argument("--settings", metavar="FILE", help="TOML file of settings, each by its name: seq = 256")
    parser.add_argument(
        "--resume", action="store_true", default=False, help="go on with a run that was stopped; begin if there is none"
    )
    for group, declared in _groups():
        section = parser.add_argument_group(group)
        for each in declared:
            words: dict[str, Any] = {"dest": each.name, "metavar": _metavar(each), "help": _help(each)}
            if each.kind is bool:
                words |= {"nargs": "?", "const": "true"}
            section.add_argument(each.flag, **words)
    return parser


def _groups() -> Iterator[tuple[str, Iterator[Setting]]]:
    return groupby(DECLARED.values(), key=lambda each: each.group)


def _metavar(each: Setting) -> str:
    return {bool: "true|false", int: "N", float: "X", Path: "PATH", str: "TEXT"}[each.kind]


def _help(each: Setting) -> str:
    silent = each.needed or each.default is False or each.default in (None, "")
    default = "" if silent else f" ({each.default})"
    words = f", {each.within.description}" if each.kind is str and each.within else ""
    return (each.help + words + default).replace("%", "%%")
