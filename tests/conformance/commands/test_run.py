"""The command `run`, straight through: a small library, its worker, the verdicts, reports and exit codes."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance.catalogue.keywords import Keywords
from conformance.commands import options
from conformance.commands.cli import main
from conformance.commands.run import last_failed
from conformance.commands.selection import Selection

SILU = """
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
int32_t cuda_silu(const float* input, float* output, int64_t n, void* stream) {
    if (!input || !output || n < 1 || n > INT64_MAX / 4) return -2;
    for (int64_t i = 0; i < n; i++) output[i] = BODY;
    return 0;
}
"""


@pytest.fixture
def library(tmp_path: Path):
    """Compile a library that holds cuda_silu alone, with the given expression in its loop."""

    def build(body: str) -> str:
        source, built = tmp_path / "silu.c", tmp_path / "libsilu.so"
        source.write_text(SILU.replace("BODY", body))
        command = [os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", str(source), "-o", str(built), "-lm"]
        subprocess.run(command, check=True)
        return str(built)

    return build


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(last_failed, "FILE", tmp_path / "last-failed.json")


RIGHT = "(float)(input[i] / (1.0 + exp(-(double)input[i])))"
WRONG = "(float)(input[i] / (1.0 + exp(-1.001 * (double)input[i])))"


def run(*arguments: str) -> int:
    return main(["run", "-n", "1", *arguments])


@pytest.mark.slow
def test_a_right_operation_passes(library, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--library", library(RIGHT), "-k", "silu/") == 0
    out = capsys.readouterr().out
    assert "PASS" in out
    assert "a second" in out
    assert "NOT RUN" not in out
    assert "libsilu.so conforms as far as it was judged" in out


def test_a_wrong_one_fails_with_place_numbers_and_the_command_to_repeat_it(library, capsys) -> None:
    assert run("--library", library(WRONG), "-k", "silu/plain") == 1
    out = capsys.readouterr().out
    assert "beyond their limit" in out
    assert "worst at [" in out
    assert "repeat: python -m conformance run --library" in out
    assert "libsilu.so --case 'silu/plain/" in out
    assert out.splitlines()[-1].startswith("libsilu.so does not conform: ")


def test_one_case_can_be_repeated(library, capsys) -> None:
    assert run("--library", library(WRONG), "--case", "silu/plain/33") == 1
    assert "1 case in" in capsys.readouterr().out


def test_a_crash_is_a_verdict_and_the_run_goes_on(library, capsys) -> None:
    assert run("--library", library("n == 33 ? input[1 << 30] : " + RIGHT), "-k", "silu/plain") == 1
    out = capsys.readouterr().out
    assert "1 CRASHED" in out
    assert "PASS" in out


def test_a_missing_operation_is_not_run_and_not_passed(library, capsys) -> None:
    assert run("--library", library(RIGHT), "-k", "mul/plain") == 1
    out = capsys.readouterr().out
    assert "not exported: 1 operation (mul)" in out
    assert out.strip().endswith("libsilu.so does not conform: 1 operation not exported.")


@pytest.fixture
def catalogue_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "select", lambda *_: Selection(("silu/plain/33", "add/plain/33"), (), Keywords(), ()))


def test_the_whole_of_an_incomplete_library_never_passes(
    library, catalogue_of_one: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("conformance.commands.run.judgement.catalogue_floor", lambda: 1)
    assert run("--library", library(RIGHT)) == 1
    out = capsys.readouterr().out
    assert "not exported: 1 operation (add)" in out
    end = "libsilu.so does not conform: 1 operation not exported; 1 case of what is there passed"
    assert end in out.strip().splitlines()[-1]


def test_a_whole_run_of_fewer_cases_than_the_floor_is_no_verdict(library, catalogue_of_one: None, capsys) -> None:
    assert run("--library", library(RIGHT)) == 2
    assert "expected at least" in capsys.readouterr().out


HANGING = """0; {
        FILE* file = fopen("%s", "w");
        if (file) fprintf(file, "%%d", (int)getpid()), fclose(file);
        for (;;) pause();
    }"""


# Whoever started the tests in the background may have told them to ignore SIGINT.
LISTENING = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("conformance", run_name="__main__")
"""


def test_ctrl_c_ends_the_run_and_its_workers_at_once(library, tmp_path: Path) -> None:
    mark = tmp_path / "worker"
    path = library(HANGING % mark)
    given = ["--limit", "60", "-k", "silu/plain", "--trust", "--library", path]  # else it writes no file
    command = [sys.executable, "-c", LISTENING, "run", *given]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as judge:
        try:
            worker = int(_until(lambda: mark.exists() and mark.read_text()))
            judge.send_signal(signal.SIGINT)
            _, said = judge.communicate(timeout=60)
        finally:
            judge.kill()
    assert (judge.returncode, said.strip()) == (130, "interrupted: no verdict")
    assert _until(lambda: not Path(f"/proc/{worker}").exists() or not Path("/proc/self").exists())


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_leaves_no_folders(library, tmp_path: Path, sent: signal.Signals) -> None:
    (temporary := tmp_path / "temporary").mkdir()
    given = ["--fresh", "-n", "2", "--limit", "60", "-k", "silu", "--library", library("0; { for (;;) pause(); }")]
    command = [sys.executable, "-c", LISTENING, "run", *given]
    environment = os.environ | {"TMPDIR": str(temporary)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment) as judge:
        try:
            assert _until(lambda: len([*temporary.iterdir()]) >= 3)  # of two workers, and of what is prepared
            judge.send_signal(sent)
            judge.communicate(timeout=60)
        finally:
            judge.kill()
    assert judge.returncode == 128 + sent
    assert [*temporary.iterdir()] == []


def _until(found):
    """Wait until the function finds something, a minute at most, and return it."""
    for _ in range(3000):
        if result := found():
            return result
        time.sleep(0.02)
    raise AssertionError("it never came")


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "conformance", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as command:
        assert command.stdout
        assert command.stderr
        command.stdout.readline()
        command.stdout.close()
        assert command.stderr.read() == ""
    assert command.returncode == 0


def test_stop_at_the_first_failure(library, capsys) -> None:
    assert run("--library", library(WRONG), "-k", "silu/plain", "-x") == 1
    assert "1 FAIL" in capsys.readouterr().out


def test_nothing_chosen_is_a_failure_of_the_run(library, capsys) -> None:
    assert run("--library", library(RIGHT), "-k", "no such words") == 2
    assert "no case matches" in capsys.readouterr().out
    assert run("--library", library(RIGHT), "--case", "silu/plain/nowhere") == 2


def test_a_file_that_is_no_library_is_named(tmp_path: Path, capsys) -> None:
    text = tmp_path / "library.so"
    text.write_text("not a library")
    assert run("--library", str(text)) == 2
    assert "library.so" in capsys.readouterr().out


@pytest.mark.slow
def test_reports_for_machines(library, tmp_path: Path) -> None:
    lines, junit = tmp_path / "run.jsonl", tmp_path / "run.xml"
    run("--library", library(WRONG), "-k", "silu/", "--jsonl", str(lines), "--junit", str(junit))
    head, *cases = [json.loads(line) for line in lines.read_text().splitlines()]
    assert head["run"]["seed"] == 0
    assert {case["status"] for case in cases} == {"PASS", "FAIL"}
    suite = ElementTree.parse(junit).getroot()
    assert int(suite.get("tests", "0")) == len(cases)
    assert int(suite.get("failures", "0")) == sum(case["status"] == "FAIL" for case in cases)


def test_reports_for_people(library, tmp_path: Path) -> None:
    page, summary = tmp_path / "page.html", tmp_path / "summary.md"
    run("--library", library(WRONG), "-k", "silu/plain", "--report", str(page), "--summary", str(summary))
    assert "libsilu.so does not conform" in page.read_text()
    assert "Error map of output" in page.read_text()
    assert "libsilu.so does not conform" in summary.read_text()


def test_a_report_that_cannot_be_written_is_said_after_the_verdict_and_costs_no_other(
    library, tmp_path: Path, capsys
) -> None:
    nowhere, page = tmp_path / "none" / "run.jsonl", tmp_path / "page.html"
    arguments = ("-k", "silu/plain/33", "--jsonl", str(nowhere), "--report", str(page))
    assert run("--library", library(RIGHT), *arguments) == 2
    *_, said, written = capsys.readouterr().out.splitlines()
    assert said.startswith("libsilu.so conforms")
    assert written == f"{nowhere}: not written: No such file or directory"
    assert "libsilu.so conforms" in page.read_text()


def test_a_mistake_is_said_when_it_is_first_met_and_once(library, capsys) -> None:
    assert run("--library", library(WRONG), "-k", "silu/plain") == 1
    met = [line for line in capsys.readouterr().out.partition("libsilu.so does not conform")[0].splitlines() if line]
    assert len(met) < 7
    assert all(line.startswith("FAIL silu/plain/") for line in met)


def test_list_prints_ids(capsys) -> None:
    assert main(["list", "-k", "silu and maximum"]) == 2
    assert main(["list", "-k", "softmax/late"]) == 0
    assert "softmax/late/maximum_in_last_column_2x8193" in capsys.readouterr().out.split()


def test_without_a_command_the_help_is_printed_and_nothing_passes(capsys) -> None:
    assert main([]) == 2
    assert "run" in capsys.readouterr().out


def test_words_that_cannot_be_read_say_where(library, capsys) -> None:
    with pytest.raises(SystemExit) as left:
        run("--library", library(RIGHT), "-k", "silu and (")
    assert left.value.code == 2
    assert "expected a word at column 11" in capsys.readouterr().err


def test_last_failed_judges_what_failed_and_then_everything(library, capsys) -> None:
    assert run("--library", library(WRONG), "-k", "silu/plain") == 1
    failed = last_failed.recall(library(RIGHT))
    assert "silu/plain/33" in failed
    capsys.readouterr()
    assert run("--library", library(RIGHT), "--lf") == 0
    assert f"{len(failed)} cases in" in capsys.readouterr().out
    assert run("--library", library(RIGHT), "--lf", "-k", "silu/plain") == 0
    assert "nothing failed the last time" in capsys.readouterr().out


def test_a_waived_failure_is_said_and_does_not_fail_the_run(library, tmp_path: Path, capsys) -> None:
    waivers = tmp_path / "waivers.toml"
    entry = '[[waiver]]\ncase = "silu/plain/*"\nowner = "Ada"\nreason = "an old formula"\nexpires = 2999-01-01\n'
    waivers.write_text(entry)
    assert run("--library", library(WRONG), "-k", "silu/plain", "--waivers", str(waivers)) == 0
    out = capsys.readouterr().out
    assert "WAIVED" in out
    assert "Ada: an old formula (until 2999-01-01)" in out
    assert run("--library", library(RIGHT), "-k", "silu/plain", "--waivers", str(waivers)) == 1
    assert "no longer needed" in capsys.readouterr().out
    waivers.write_text("[[waiver]]\ncase = 1\n")
    assert run("--library", library(RIGHT), "--waivers", str(waivers)) == 2
    assert "lacks expires, lacks owner, lacks reason" in capsys.readouterr().out


def test_quiet_verbose_and_the_slowest(library, capsys) -> None:
    assert run("--library", library(RIGHT), "-k", "silu/plain", "-q") == 0
    assert len(capsys.readouterr().out.strip().splitlines()) == 2
    assert run("--library", library(RIGHT), "-k", "silu/plain", "-vv", "--durations", "1") == 0
    out = capsys.readouterr().out
    assert "PASS silu/plain/33" in out
    assert " s  silu/" in out


def test_a_damaged_golden_is_refused_by_name_and_its_case_mistrusted(monkeypatch: pytest.MonkeyPatch) -> None:
    from conformance.catalogue.cases import CASES
    from conformance.catalogue.goldens import FOLDER, GoldenError
    from conformance.judging import bench, preparation
    from conformance.judging.results import Status

    def damaged(id: str) -> None:
        raise GoldenError(FOLDER / "silu.safetensors", "a whole file", "one cut short")

    monkeypatch.setattr(preparation, "load", damaged)
    result = bench.Bench(worker=None).case(CASES["silu/plain/33"])  # type: ignore[arg-type]
    assert result.status is Status.MISTRUSTED
    assert "silu.safetensors" in result.reason


def test_cases_are_judged_by_their_goldens_where_there_are_some(monkeypatch: pytest.MonkeyPatch) -> None:
    from conformance.catalogue.cases import CASES
    from conformance.catalogue.goldens import load
    from conformance.judging import preparation

    held = next(id for id in CASES if id.startswith("silu/") and load(id))
    monkeypatch.setattr(preparation, "expect", lambda *_: pytest.fail("the reference was asked"))
    arguments, expected = preparation.Preparation().due(CASES[held])
    assert arguments.keys() == {"input"}
    assert expected.keys() == {"output"}


def test_several_libraries_stand_side_by_side(library, tmp_path: Path, capsys) -> None:
    right = Path(library(RIGHT)).rename(tmp_path / "right.so")
    reports = ("--jsonl", str(tmp_path / "r.jsonl"), "--report", str(tmp_path / "r.html"))
    several = ("--library", f"old={right}", "--library", f"new={library(WRONG)}")
    assert run(*several, "-k", "silu/plain", *reports) == 1
    out = capsys.readouterr().out
    heading, row = next(pair for pair in itertools.pairwise(out.splitlines()) if pair[0].startswith("operation"))
    assert heading.split() == ["operation", "old", "new"]
    assert row.split()[2:] == ["7", "of", "7", "wrong"]
    assert "\nold conforms as far as it was judged: 7 cases passed." in out
    assert "\nnew does not conform: 1 mistake explains 7 failures in 7 cases." in out
    for name in ("old", "new"):
        head = json.loads((tmp_path / f"r-{name}.jsonl").read_text().splitlines()[0])
        assert head["run"]["candidate"] == name
    assert "emulated" not in (tmp_path / "r.html").read_text()


def test_what_is_said_of_one_of_several_is_said_before_any_is_judged(library, tmp_path: Path, capsys) -> None:
    assert run("--library", library(RIGHT), "--library", str(tmp_path / "none.so")) == 2
    assert capsys.readouterr().out.strip() == f"{tmp_path / 'none.so'}: there is no such file"


def test_what_a_library_prints_is_no_order_to_the_terminal(library, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--library", library(f'({WRONG}) + 0 * printf("\\x1b]0;owned\\x07")'), "--case", "silu/plain/33") == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert r"\x1b]0;owned\x07" in out
