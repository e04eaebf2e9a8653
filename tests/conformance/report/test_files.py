"""Reports in files: written whole or not at all, and refused where they were cut."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.commands.cli import main
from conformance.judging.results import Result, Status
from conformance.report.files import ReportError, read_jsonl, write_jsonl
from conformance.report.record import Run
from conformance.report.writing import write_whole

RUN = Run("lib.so", [Result("silu/plain/1", "silu", Status.PASS), Result("add/plain/1", "add", Status.FAIL, "wrong")])


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "run.jsonl"
    write_jsonl(path, RUN)
    return path


def test_what_was_written_is_read_back(written: Path) -> None:
    assert read_jsonl(written).results == RUN.results
    assert read_jsonl(written).code == RUN.code


@pytest.mark.parametrize("lines", [1, 2])
def test_a_report_cut_between_two_lines_is_refused_and_never_conforms(
    written: Path, lines: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written.write_text("".join(written.read_text().splitlines(keepends=True)[:lines]))
    with pytest.raises(ReportError, match=f"expected 2 cases, got {lines - 1}: the file is not whole"):
        read_jsonl(written)
    assert main(["report", str(written), "--page", str(tmp_path / "page.html")]) == 2
    assert "the file is not whole" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_a_report_cut_within_a_line_is_refused(written: Path) -> None:
    text = written.read_text()
    for end in (1, 10, len(text) // 2, len(text) - 2):
        written.write_text(text[:end])
        with pytest.raises(ReportError):
            read_jsonl(written)


def test_a_report_takes_the_place_of_another_and_leaves_nothing_beside_it(written: Path) -> None:
    write_whole(written, "new\n")
    assert written.read_text() == "new\n"
    assert [path.name for path in written.parent.iterdir()] == ["run.jsonl"]
    assert written.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_report_that_cannot_be_written_leaves_the_old_one_as_it_was(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = written.read_text()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("conformance.report.writing._filled", full)
    with pytest.raises(ReportError, match=r"run\.jsonl: not written: No space left on device"):
        write_jsonl(written, RUN)
    assert written.read_text() == before
    assert [path.name for path in written.parent.iterdir()] == ["run.jsonl"]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"none/page\.html: not written: No such file or directory"):
        write_whole(tmp_path / "none" / "page.html", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_device_is_named() -> None:
    with pytest.raises(ReportError, match="/dev/full: not written: No space left on device"):
        write_whole(Path("/dev/full"), "text")
