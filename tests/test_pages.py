"""What holds the pages would notice: stale replacements, fences left open, sessions and options that there are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import pages
from tests.typed import check, commands

PAGE = """
<!-- exit: 1 -->
<!-- run: s|--steps 1000|--steps 2| s|tiny|small| -->
```sh
python -m training --config tiny --steps 1000   # minutes
```
`cuda/include/assayer.h`:
```c
#define ASSAYER_OK 0
```
"""


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    return tmp_path / "page.md"


def test_a_block_has_what_stands_right_before_it(page: Path) -> None:
    page.write_text(PAGE)
    typed, quote = pages.blocks("page.md")
    assert (typed.language, typed.line, typed.comments["exit"]) == ("sh", 5, "1")
    assert typed.as_run == "python -m training --config small --steps 2   # minutes\n"
    assert (quote.quotes, quote.comments, quote.as_run) == ("cuda/include/assayer.h", {}, quote.text)


def test_a_replacement_of_what_is_not_there(page: Path) -> None:
    page.write_text(PAGE.replace("--config tiny", "--config bench"))
    with pytest.raises(ValueError, match=r"page.md:5: expected 'tiny' in the block"):
        _ = pages.blocks("page.md")[0].as_run


def test_a_fence_that_is_not_closed(page: Path) -> None:
    page.write_text(PAGE.rpartition("```")[0])
    with pytest.raises(ValueError, match=r"page.md:8: expected the block's end"):
        pages.blocks("page.md")


def test_commands_are_what_a_shell_would_take() -> None:
    text = "pip install nox && nox -s tests  # both\nassayer run \\\n  -k 'a b'\n\n# a comment\n"
    assert [words for _, words in commands(text)] == [
        ["pip", "install", "nox"],
        ["nox", "-s", "tests"],
        ["assayer", "run", "-k", "a b"],
    ]


@pytest.mark.parametrize(
    "line",
    [
        "nox -s conformances",
        "nox -s conformance --on stub",
        "nox -s conformance -- --no-such-option",
        "nox -s readings -- --together 3",
        "OMP_NUM_THREADS=1 assayer run --library mine.so --contrct tf32",
        "mpirun -n 4 python -m training --data shards --expert-paralel",
        "python -m benchmarks.sixteeen",
        "pip install nox==2020.1.1",
        "pip install '.[txt]'",
    ],
)
def test_what_no_program_takes_is_refused(line: str) -> None:
    ((_, words),) = commands(line)
    with pytest.raises((ValueError, SystemExit)):
        check(words)


@pytest.mark.parametrize(
    "line", ["nox", "nox -l", "nox -s golden -- --check", "assayer list --help", "uvx nox -s tests"]
)
def test_what_a_program_takes_is_not(line: str) -> None:
    ((_, words),) = commands(line)
    check(words)
