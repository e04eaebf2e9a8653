"""`languages`: build the ports of examples/ in other languages, and judge them beside the project's own builds."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bindings.places import builds
from bindings.shared_object.symbols import exported_symbols
from conformance.builds.library import BuildError
from conformance.builds.library import build as build_own
from conformance.exit_codes import FAILED, HARNESS, PASSED
from conformance.languages.judged import CASES, PARTS, Row, judge, judge_port
from conformance.languages.listed import PORTS
from conformance.languages.picture import write_page
from conformance.languages.ports import lacking
from conformance.languages.speed import tokens_per_second
from conformance.languages.step import StepError, of_library, of_reference, reference_module, shares
from conformance.operations import OPERATIONS
from conformance.paths import EXAMPLES
from conformance.report.files import ReportError

from .options import add_command

_EXAMPLES = """\
  languages                          every port whose compiler works, beside reference, stub and emulated
  languages --only rust --beside stub
"""
_EXIT = "exit code: 0 all that was built is right; 1 something is not, or no page was written; 2 no port was judged"
_OWN = ("reference", "stub", "emulated")


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(commands, "languages", "build and judge the ports in other languages", run, _EXAMPLES, _EXIT)
    names = [port.name for port in PORTS]
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=f"one of {', '.join(names)}")
    parser.add_argument("--beside", action="append", choices=_OWN, metavar="NAME", help=f"one of {', '.join(_OWN)}")
    parser.add_argument("-k", default=CASES, metavar="WORDS", help="cases of operations (default: %(default)s)")
    where = "where the page is written (default: page.html among the builds)"
    parser.add_argument("--report", type=Path, metavar="FILE", help=where)


def run(options: argparse.Namespace) -> int:
    """Build, judge, print; return the exit code."""
    out = builds() / "languages"
    ports, rows = [port for port in PORTS if not options.only or port.name in options.only], list[Row]()
    for port in ports:
        if reason := lacking(port):
            rows.append(Row(port.name, skipped=reason))
        else:
            rows.append(judge_port(port, EXAMPLES / port.folder, out / port.name, options.k))
        print(_said(rows[-1]), flush=True)
    judged = [row for row in rows if not row.skipped]
    beside = list(_beside(options.beside or _OWN, [row.library for row in judged if row.library], options.k))
    speeds = _speeds([*judged, *beside])
    print("", *_table([*rows, *beside]), "", *_speed(speeds), sep="\n")
    page = options.report or out / "page.html"
    try:
        write_page(page, [*rows, *beside], speeds)
    except ReportError as error:
        print(error)
        return FAILED
    print(f"the page, with one training step of each, tensor by tensor: {page}")
    if not judged:
        return HARNESS
    return FAILED if any(row.wrong for row in [*judged, *beside]) else PASSED


def _said(row: Row) -> str:
    if row.skipped:
        return f"{row.name}: not judged: {row.skipped}"
    notes = [f"  {note}" for note in row.notes]
    if row.wrong:
        more = [f"  and: {sentence}" for sentence in row.wrong[1:]]
        return "\n".join((f"{row.name}: wrong: {row.wrong[0]}", *more, *notes))
    return "\n".join((f"{row.name}: right, built and judged in {row.seconds:.0f} s", *notes))


def _beside(names: Sequence[str], libraries: list[Path], words: str) -> Iterator[Row]:
    """The project's own builds, by the operations that any of the ports has."""
    exported = frozenset[str]().union(*map(exported_symbols, libraries))
    held = [operation for operation, function in OPERATIONS.items() if function.symbol in exported]
    for name in names if held else ():
        row = Row(name)
        chosen = ("-o", ",".join(held), "-k", words if name != "reference" else f"({words}) and not refused")
        try:
            if name == "reference":
                module = reference_module(builds() / "languages" / name)
                judge(row, "operations", "--module", str(module), "--exported", *chosen)
                row.tensors = shares(of_reference(builds() / "languages" / name))
            else:
                row.library = build_own(name)
                judge(row, "operations", "--library", str(row.library), *chosen)
                row.tensors = shares(of_library(row.library, builds() / "languages" / name), row.library.parent)
        except BuildError as error:
            row.skipped = str(error).splitlines()[0]
        except StepError as error:
            row.wrong.append(str(error))
        print(_said(row) if row.wrong or row.skipped else f"{name}: right", flush=True)
        yield row


def _table(rows: list[Row]) -> Iterator[str]:
    yield f"{'':12}" + "".join(f"{part:>14}" for part in PARTS) + "  first wrong"
    for row in rows:
        cells = "".join(f"{row.passed.get(part, '-'):>14}" for part in PARTS)
        yield f"{row.name:12}{cells}  {row.skipped or (row.wrong or ['nothing'])[0]}"


def _speeds(rows: list[Row]) -> dict[str, float]:
    """Of libraries that hold the whole step, and of the C build, which they are measured by."""
    libraries = {row.name: row.library for row in rows if row.library and row.name in ("rust", "go", "stub")}
    if "stub" not in libraries or len(libraries) < 2:
        return {}
    return tokens_per_second({name: path for name, path in libraries.items() if path})


def _speed(found: Mapping[str, float]) -> Iterator[str]:
    if found:
        yield f"the training step, tokens/s, best of the rounds in turn on {os.cpu_count()} processors:"
    for name, rate in found.items():
        yield f"  {name:10} {rate:10,.0f}  {rate / found['stub']:5.2f} of the C build's"
