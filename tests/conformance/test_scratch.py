"""Folders for a while: there as long as somebody holds them, however that one ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from conformance.scratch import Scratch, remove_unheld

HOLDER = """
import time
from conformance.scratch import Scratch
held = Scratch()
(held.path / "left").mkdir(mode=0)
print(held.path, flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_it_goes_with_all_that_is_in_it(tmp_path: Path) -> None:
    scratch = Scratch()
    (scratch.path / "a" / "b").mkdir(parents=True)
    (scratch.path / "a").chmod(0)
    scratch.close()
    scratch.close()
    assert [*tmp_path.iterdir()] == []


def test_what_a_killed_process_leaves_goes_with_the_next_and_nothing_else_does(tmp_path: Path) -> None:
    (tmp_path / "assayer-of-another").mkdir()
    mine = Scratch()
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        theirs = Path(holder.stdout.readline().strip())
        remove_unheld()
        assert {*tmp_path.iterdir()} == {tmp_path / "assayer-of-another", mine.path, theirs}
        holder.send_signal(signal.SIGKILL)
    theirs.chmod(0)
    remove_unheld()
    assert {*tmp_path.iterdir()} == {tmp_path / "assayer-of-another", mine.path}
    mine.close()
