"""Mutants of C, CUDA and Python by universalmutator's rules, and by a few of our own for arrays.

universalmutator (Groce et al. 2018, ICSE, "An extensible, regular-expression-based tool for multi-language mutant
generation") changes operators, comparisons, constants and conditions, deletes statements and exchanges arguments, one
line at a time.  What its rules lack stands beside this file in `arrays.rules`.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .source import Line

C, PYTHON = ("universal.rules", "c_like.rules"), ("universal.rules", "python.rules")
_OWN = str(Path(__file__).with_name("arrays.rules"))
_STATEMENT = re.compile(r"\s*[^#]*[=(].*;")
SWAPPED = "statement ==> behind the next one"


class MutatorError(RuntimeError):
    """The mutator is not installed."""


@dataclass(frozen=True)
class Mutant:
    """A line of a file, or two, written otherwise.

    file: below the folder of its library's sources.  line: from 1.  operator: the rule, "what ==> what instead".
    """

    file: str
    line: int
    operator: str
    before: str  # the line's code, without comments and indentation
    after: str
    count: int = 1  # of lines that it stands in place of

    @cached_property
    def id(self) -> str:
        """A name by which a later run knows it again."""
        named = "\0".join((self.file, str(self.line), self.before, self.after))
        return hashlib.blake2b(named.encode(), digest_size=12).hexdigest()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.after}"


def mutants_of(file: str, lines: Sequence[Line], rules: Sequence[str]) -> list[Mutant]:
    """Return the mutants of a file's lines by rules of the mutator's.  Raises MutatorError."""
    try:
        from universalmutator.mutator import mutants_regexp  # here, as it is installed for this command alone
    except ImportError as error:
        raise MutatorError(f"expected the package universalmutator: {error}; `nox -s mutants` installs it") from None
    with contextlib.redirect_stdout(io.StringIO()):  # it tells which rules it uses
        made = mutants_regexp([f"{line.code}\n" for line in lines], [*rules, _OWN], ignorePatterns=[])
    found = [
        Mutant(file, number, rule, lines[number - 1].code.strip(), " ".join(after.split()))
        for number, after, (rule, _), _ in made
    ]
    every = {mutant.id: mutant for mutant in (*found, *_swapped(file, lines))}  # several rules may write the same
    return [mutant for mutant in every.values() if mutant.after.split() != mutant.before.split()]


def _swapped(file: str, lines: Sequence[Line]) -> Iterator[Mutant]:
    """Each call or assignment behind the one on the line after it; declarations may stand in any order."""
    for number, (line, other) in enumerate(itertools.pairwise(lines), 1):
        if all(_STATEMENT.fullmatch(each.code) for each in (line, other)):
            before, after = line.code.strip(), other.code.strip()
            yield Mutant(file, number, SWAPPED, f"{before} {after}", f"{after} {before}", 2)
