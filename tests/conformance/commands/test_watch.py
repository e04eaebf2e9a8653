"""`watch`: judged again when a file has changed and is whole, what failed first, until it is ended."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from bindings import Library
from conformance.catalogue.prepared import MemoryStore
from conformance.catalogue.prepared.codec import Codec
from conformance.commands.cli import main
from conformance.commands.watch import files, rounds
from conformance.commands.watch.files import PATIENCE, stamp, stamps, wait
from conformance.commands.watch.warm import WarmStore
from tests.conformance.commands.small import said

RIGHT = "import numpy as np\ndef add(a, b): return a + b\n"
WRONG = "import numpy as np\ndef add(a, b): return a - b\n"
CHOSEN = ("--exported", "-k", "add/plain")
Act = Callable[[], object]
Script = Callable[..., None]


def nothing() -> None:
    """What happens while a look finds a file as it was."""


def ends() -> None:
    raise KeyboardInterrupt


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    """Has one thing happen between every two looks at a file, and then the user end it."""

    def play(*acts: Act) -> None:
        left = iter([*acts, ends])
        monkeypatch.setattr(files, "pause", lambda: next(left)())

    return play


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(WRONG)
    return tmp_path / "mine.py"


def writes(path: Path, text: str) -> Act:
    """Replace a file by another one, as an editor does."""

    def act() -> None:
        beside = path.with_suffix(".new")
        beside.write_text(text)
        beside.replace(path)

    return act


# ---- when a file has changed ----------------------------------------------------------------------------------------
def test_a_file_is_waited_for_until_it_stays_as_it_is(tmp_path: Path, script: Script) -> None:
    path = tmp_path / "mine.py"
    path.write_text("1")
    seen = stamps([path])
    script(nothing, writes(path, "2"), writes(path, "23"), writes(path, "234"), nothing)
    assert wait([path], seen, print, is_library=False) == stamps([path])
    assert path.read_text() == "234"


def test_another_file_of_the_same_size_and_time_is_a_change(tmp_path: Path, script: Script) -> None:
    path = tmp_path / "mine.py"
    path.write_text("1")
    before, seen = path.stat(), stamps([path])

    def replaced() -> None:
        writes(path, "2")()
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    script(replaced, nothing)
    assert wait([path], seen, print, is_library=False) != seen


def test_a_file_that_is_not_there_is_told_of_once(tmp_path: Path, script: Script) -> None:
    told: list[str] = []
    path = tmp_path / "libmine.so"
    script(*[nothing] * 3 * PATIENCE)
    with pytest.raises(KeyboardInterrupt):
        wait([path], None, told.append, is_library=True)
    assert told == [f"{path}: there is no such file; waiting for it"]
    assert stamp(path) is None


def test_a_library_that_a_linker_has_half_written_is_no_error(tmp_path: Path, stub: Library, script: Script) -> None:
    told: list[str] = []
    path, whole = tmp_path / "libmine.so", Path(stub.path).read_bytes()
    path.write_bytes(whole[:5000])
    script(*[nothing] * 3, lambda: path.write_bytes(whole[:-1000]), nothing, lambda: path.write_bytes(whole), nothing)
    assert wait([path], None, told.append, is_library=True) == stamps([path])
    assert told == []
    assert path.read_bytes() == whole


# ---- the command ----------------------------------------------------------------------------------------------------
def test_it_is_judged_again_when_the_file_changes_and_what_failed_goes_first(
    mine: Path, script: Script, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[tuple[str, list[str]]] = []

    def noted(ids: Sequence[str], *given: Any) -> Any:
        order.append(("all", [*ids]))
        return judge_all(ids, *given)

    def noted_again(id: str, bench: Any) -> Any:
        order.append(("again", [id]))
        return judge_id(id, bench)

    judge_all, judge_id = rounds.judge_all, rounds.judge_id
    monkeypatch.setattr(rounds, "judge_all", noted)
    monkeypatch.setattr(rounds, "judge_id", noted_again)
    script(nothing, nothing, writes(mine, RIGHT), nothing)
    assert main(["watch", "--module", "mine.py", *CHOSEN]) == 0
    out = said(capsys)
    first, _, second = out.partition("none fails any more")
    assert "mine.py does not conform" in first
    assert second.splitlines()[1].startswith("mine.py conforms as far as it was judged: ")
    assert out.splitlines()[-1] == "ended"
    (_, every), *again, (_, rest) = order
    assert [kind for kind, _ in again] == ["again"] * len(again)
    assert again
    assert sorted(rest + [id for _, [id] in again]) == sorted(every)


def test_what_is_still_wrong_is_counted(mine: Path, script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    script(nothing, writes(mine, WRONG + "\n"), nothing)
    assert main(["watch", "--module", "mine.py", *CHOSEN]) == 1
    assert "still fail" in said(capsys)


def test_a_module_that_cannot_be_imported_is_waited_for(
    mine: Path, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    script(nothing, writes(mine, "def add(a, b: return a"), nothing, nothing, writes(mine, RIGHT), nothing)
    assert main(["watch", "--module", "mine.py", *CHOSEN]) == 0
    out = said(capsys)
    assert out.index("does not conform") < out.index("SyntaxError") < out.index("conforms as far as it was judged")


def test_a_file_that_the_module_imports_is_watched_too(
    mine: Path, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    helper = mine.with_name("helper.py")
    helper.write_text("SIGN = -1")
    mine.write_text("import helper\nimport numpy as np\ndef add(a, b): return a + np.float32(helper.SIGN) * b\n")
    script(nothing, writes(helper, "SIGN = 1 "), nothing)
    assert main(["watch", "--module", "mine.py", *CHOSEN]) == 0
    assert "none fails any more" in said(capsys)


def test_a_file_that_changes_while_it_is_judged_is_judged_anew(
    mine: Path, script: Script, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_all = rounds.judge_all
    changes: Iterator[Act] = iter([writes(mine, RIGHT)])

    def changing(*given: Any) -> Any:
        next(changes, nothing)()
        return judge_all(*given)

    monkeypatch.setattr(rounds, "judge_all", changing)
    script(nothing, nothing)
    assert main(["watch", "--module", "mine.py", *CHOSEN]) == 0
    out = said(capsys)
    assert "changed meanwhile" in out
    assert "does not conform" not in out


def test_a_step_is_watched(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    example = Path(__file__).parents[3] / "examples/steps/with_numpy.py"
    script(nothing)
    assert main(["watch", "--step", f"{example}:step", "-k", "training_step"]) == 0
    assert "with_numpy.py:step conforms as far as it was judged: 1 case passed." in said(capsys)


def test_words_that_choose_nothing_end_it(mine: Path, script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    script(nothing)
    assert main(["watch", "--module", "mine.py", "-k", "no_such_word"]) == 2
    assert "no case matches -k 'no_such_word'" in said(capsys)


def test_a_module_that_is_not_there_is_an_error(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", "--module", "no.such.module"]) == 2
    assert "no.such.module: expected a file of Python or a module, found no no" in said(capsys)


def test_what_cases_need_is_made_once() -> None:
    made: list[int] = []
    store = WarmStore(MemoryStore(), most=2)
    for name in ("a", "b", "a", "c", "a", "b"):
        assert store.recall(name, lambda: made.append(1) or len(made), Codec()) > 0
    assert len(made) == 4  # b was the one that had been unused for longest when c came
