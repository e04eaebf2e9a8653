"""Judges one port, or one of this project's builds beside it: what is right, and the first line of what is not."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bindings.places import module
from conformance.linking import LinkError, link_exported
from conformance.paths import EXAMPLES

from .by_position import NotCalledError, judge_by_position
from .files import ProgramError, write_answers, write_golden, wrong_decoding, wrong_start
from .listed import Port, Positional
from .ports import PortError, build
from .step import StepError, shares

CASES = "not full/ and not designed"
_FIRST = re.compile(r"^(?:1\. |error: )(.*)", re.M)
_LACKING = re.compile(r"^(not exported: .*)", re.M)
_COUNT = re.compile(r"^(\d+) cases? in .*?: (\d+) PASS", re.M)
_SECONDS = 900
_PROGRAM = 'PROGRAM = (str(Path(__file__).resolve().parent / "port"),)'


PARTS = ("operations", "files", "by position", "golden step", "whole steps", "start", "decoding")


@dataclass
class Row:
    """One line of the table: cases passed by what was judged, and what is wrong, the first thing first.

    notes: what was not judged, and why.
    """

    name: str
    passed: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    skipped: str = ""
    seconds: float = 0.0
    library: Path | None = None
    tensors: Mapping[str, float] = field(default_factory=dict)  # of one training step: the share of its limit


def judge_port(port: Port, source: Path, out: Path, words: str = CASES) -> Row:
    """Build a port and judge all that it has; words: which cases of single operations and steps, as -k takes them."""
    row, begun = Row(port.name), time.monotonic()
    try:
        made = build(port, source, out)
    except PortError as error:
        row.wrong.append(f"not built: {error}")
        return row
    row.library = made.library
    if made.library:
        row.wrong.extend(f"link: {sentence}" for sentence in _unlinked(made.library))
        judge(row, "operations", "--library", str(made.library), "--exported", "-k", words)
        if port.positional:
            _by_position(row, port.positional, source, out, made.library, words)
    if made.answers:
        judge_answers(row, made.answers, port.operations, out, words)
    if made.program:
        for sentence in _judged_on_files(row, made.program, out):
            row.wrong.append(sentence)
    row.seconds = time.monotonic() - begun
    return row


def _by_position(row: Row, positional: Positional, source: Path, out: Path, library: Path, words: str) -> None:
    """Note how many operations are right where arguments travel by position."""
    try:
        found = judge_by_position(row.name, positional, source, out, library, words)
    except NotCalledError as error:
        row.notes.append(f"by position: not judged: {error}")
        return
    except PortError as error:
        row.wrong.append(f"by position: not built: {error}")
        return
    row.passed["by position"] = f"{sum(each.is_right for each in found)}/{len(found)}" if found else "none"
    wrong = (each for each in found if not each.is_right)
    row.wrong.extend(f"by position: {each.sentence or f'{each.operation}: not exported'}" for each in wrong)


def _unlinked(library: Path) -> list[str]:
    """What a program that is linked to a port would lack; where there is no linker, nothing is known."""
    try:
        return link_exported(library).sentences
    except LinkError as error:
        return [str(error)]


def judge_answers(row: Row, program: tuple[str, ...], operations: tuple[str, ...], out: Path, words: str) -> None:
    """Judge what a program writes for the goldens of these operations; what it leaves out is not right."""
    results = out / "answers"
    try:
        write_answers(program, results)
    except ProgramError as error:
        row.wrong.append(str(error))
        return
    if missing := [operation for operation in operations if not (results / operation).is_dir()]:
        row.wrong.append(f"files: no results of {', '.join(missing)}")
    judge(row, "files", "--outputs", str(results), "-o", ",".join(operations), "-k", words)


def _judged_on_files(row: Row, program: tuple[str, ...], out: Path) -> Iterator[str]:
    """Yield what is wrong with a program; a command that fails keeps the others from nothing."""
    results = out / "results"
    shutil.rmtree(results, ignore_errors=True)
    try:
        write_golden(program, results)
        judge(row, "golden step", "--outputs", str(results), "-k", "training_step")
    except ProgramError as error:
        yield str(error)
    step = adapter(program, out)
    judge(row, "whole steps", "--step", f"{step}:step")
    try:
        row.tensors = shares(step)
    except StepError as error:
        yield str(error)
    for name, wrong in (("start", wrong_start), ("decoding", wrong_decoding)):
        try:
            sentence = wrong(program, out)
        except ProgramError as error:
            sentence = str(error)
        row.passed[name] = "wrong" if sentence else "right"
        if sentence:
            yield sentence


def adapter(program: tuple[str, ...], out: Path) -> Path:
    """Write the example of a step in files, for this program, and return its path."""
    text = (EXAMPLES / "steps" / "with_program.py").read_text(encoding="utf-8")
    if text.count(_PROGRAM) != 1:
        raise ValueError(f"examples/steps/with_program.py: expected {_PROGRAM!r} once")
    path = out / "step.py"
    found = tuple(shutil.which(word) or word for word in program)
    path.write_text(text.replace(_PROGRAM, f"PROGRAM = {found!r}"), encoding="utf-8")
    return path


def judge(row: Row, part: str, *words: str) -> None:
    """Run the judge in a process of its own, and note what it counted and the first line of what it found wrong."""
    command = (sys.executable, "-m", module("conformance"), "run", *words)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        row.passed[part] = "no end"
        row.wrong.append(f"{part}: the judge did not end within {_SECONDS} s")
        return
    counted = _COUNT.search(done.stdout)
    row.passed[part] = f"{counted[2]}/{counted[1]}" if counted else "none"
    if done.returncode:
        first = _FIRST.search(done.stdout) or _LACKING.search(done.stdout)
        last = (done.stderr.strip() or done.stdout.strip() or "nothing was said").splitlines()[-1]
        row.wrong.append(f"{part}: {first[1] if first else last}")
