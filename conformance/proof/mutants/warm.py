"""A process that has loaded the reference, its goldens and its tests, and judges each mutant in a copy of itself.

    python -m conformance.proof.mutants.warm CONNECTION TEST...

The first argument is a file descriptor, the others are what pytest collects.  When all is loaded and every check has
passed once, in a copy, the process says ("ready",), else ("broken", why).  A request is a mutated file, its text and
the names of checks that are to come first.  The reply is ("killed", check, how), ("passed", number of checks), or
("cold",) where the mutant changes what runs while modules load, which here they have: unless a check fails all the
same, that says nothing.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from conformance.paths import ROOT

from .bytecode import Key, changed, exchange, functions_of, key_of
from .checks import Check, Golden, Test, calls, learnt

_REFERENCE = f"{ROOT / 'reference'}{os.sep}"
_LEAST_S, _TIMES = 1.0, 20.0  # how long a check may take: so many times what it took, and a second
_MOST_BYTES = 8 << 30
Tell = Callable[[Any], None]


class Warm:
    """pytest's plugin: when tests are collected, it serves mutants in place of running them."""

    def __init__(self, link: Connection, loading: ExitStack, loaded: set[CodeType]) -> None:
        self._link, self._loading, self._loaded = link, loading, loaded

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Serve until the connection ends."""
        from .replay import goldens  # here, where it is seen what that calls

        if session.testsfailed:
            self._link.send(("broken", f"{session.testsfailed} errors while tests were collected"))
            return True

        self._checks: list[Check] = [*map(Golden, goldens()), *map(Test, session.items)]
        self._loading.close()
        self._before = {key_of(code) for code in self._loaded}
        self._functions = functions_of(_REFERENCE)
        told, ended = _in_a_copy(self._learn)
        [self._known, *_] = [each for each in told if isinstance(each, dict)] or [{}]
        self._link.send(("ready",) if self._known else ("broken", *told, ended))
        while self._known:
            try:
                file, text, first = self._link.recv()
            except EOFError:
                break
            self._link.send(self._judged(f"{_REFERENCE}{file}", text, first))
        return True

    def _learn(self, tell: Tell) -> None:
        try:
            tell(learnt(self._checks, _REFERENCE))
        except ValueError as error:
            tell(str(error))

    def _judged(self, file: str, text: str, first: Sequence[str]) -> tuple[Any, ...]:
        codes = changed(Path(file).read_text(encoding="utf-8"), text, file)
        if not codes or codes.keys() - self._functions.keys():
            return ("cold",)
        chosen = self._chosen(codes, first)
        told, ended = _in_a_copy(lambda tell: self._try(codes, chosen, tell))
        if not told:
            return ("cold",)
        place, said = told[-1]
        if place < len(chosen):
            return ("killed", chosen[place].name, said or ended)
        return ("cold",) if codes.keys() & self._before else ("passed", place)

    def _chosen(self, codes: Mapping[Key, CodeType], first: Sequence[str]) -> list[Check]:
        """The checks that call what has changed: those first that are likely to fail, then the shortest.

        Those that call nothing come last: they may look at a function all the same.
        """
        ranks = {name: rank for rank, name in enumerate(first)}

        def order(check: Check) -> tuple[bool, int, float]:
            known = self._known[check.name]
            return not known.called, ranks.get(check.name, len(ranks)), known.seconds

        asked = (check for check in self._checks if not self._known[check.name].called.isdisjoint({*codes}))
        silent = (check for check in self._checks if not self._known[check.name].called)
        return sorted((*asked, *silent), key=order)

    def _try(self, codes: Mapping[Key, CodeType], checks: Sequence[Check], tell: Tell) -> None:
        """Run checks until one fails; tell the place of each before, and behind the last one."""
        try:
            exchange(self._functions, codes)
        except ValueError:  # it takes other variables from the function around it
            return
        for place, (check, following) in enumerate(zip(checks, [*checks[1:], None], strict=True)):
            tell((place, ""))
            signal.setitimer(signal.ITIMER_REAL, _LEAST_S + _TIMES * self._known[check.name].seconds)
            try:
                said = check.failure(following)
            except Exception as error:
                said = f"{type(error).__name__}: {error}"[:200]
            if said:
                tell((place, said))
                return
        tell((len(checks), ""))


def _in_a_copy(work: Callable[[Tell], None]) -> tuple[list[Any], str]:
    """Do some work in a copy of this process; return all that it told, and by which signal it ended, if by one."""
    ours, theirs = Pipe(duplex=False)
    child = os.fork()
    if not child:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_DATA, (_MOST_BYTES, _MOST_BYTES))
        try:
            work(theirs.send)
        finally:
            os._exit(0)
    theirs.close()
    told = []
    try:
        while True:
            told.append(ours.recv())
    except EOFError:
        ours.close()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return told, signal.Signals(-code).name if code < 0 else ""


def main() -> None:
    if "reference" in sys.modules:
        raise RuntimeError("expected that the reference is loaded later, to see what is called meanwhile")
    loading = ExitStack()
    loaded = loading.enter_context(calls(_REFERENCE))
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT)]
    pytest.main([*options, *sys.argv[2:]], plugins=[Warm(Connection(int(sys.argv[1])), loading, loaded)])


if __name__ == "__main__":
    main()
