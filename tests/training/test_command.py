"""`python -m training`: a run from its settings to its files."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import reference
from tests.training.runs import small_run, small_shards
from training import progress, run
from training.__main__ import main
from training.learner import Learner
from training.log import MEASURED, read_log
from training.ranks import taking_turns
from training.settings import SettingsError, read_settings

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_shards(tmp_path_factory.mktemp("data") / "shards")


@pytest.fixture(autouse=True)
def signals_stay(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command takes over signals; and drawing takes longer than these runs."""
    monkeypatch.setattr("training.__main__.draw", lambda _, path: path.touch())
    before = [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM)]
    yield
    for number, handler in before:
        signal.signal(number, handler)


def numbers(log: Path) -> list[dict[str, Any]]:
    """What is logged, less the seconds and the settings."""
    return [{k: v for k, v in r.items() if k not in MEASURED} for r in read_log(log) if r["kind"] != "run"]


def files(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*.*") if file.is_file()}


def test_a_run_writes_its_log_and_its_checkpoints(
    shards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(small_run(shards, tmp_path / "run", "--keep", "2", "--prompt", "One"))
    log = read_log(tmp_path / "run" / "log.jsonl")
    kinds = [(record["kind"], record["step"]) for record in log]
    looks = [("validation", 3), ("sample", 3), ("validation", 6), ("sample", 6)]
    assert kinds == [
        ("run", 0),
        *(("step", n) for n in (1, 2, 3)),
        *looks[:2],
        *(("step", n) for n in (4, 5, 6)),
        *looks[2:],
    ]
    assert log[0]["settings"]["seq"] == 8
    first = log[1]
    assert first["loss"] == pytest.approx(first["cross_entropy"] + first["aux_loss"])
    assert [len(layer) for layer in first["loads"]] == [2, 2]
    assert all(sum(layer) == pytest.approx(1) for layer in first["loads"])
    assert log[-1]["text"].startswith("One")
    assert sorted(path.name for path in (tmp_path / "run" / "checkpoints").iterdir()) == [
        "step-00000004",
        "step-00000006",
    ]
    printed = capsys.readouterr()
    assert "step 6/6  loss " in printed.err
    assert "going on" not in printed.err
    assert printed.out.startswith("step 6, validation loss ")


@pytest.fixture(params=["reference", "stub"])
def backend(request: pytest.FixtureRequest) -> str:
    return "reference" if request.param == "reference" else str(request.getfixturevalue("stub_path"))


@pytest.mark.parametrize("precision", ["float32", "bf16", "fp16"])
def test_a_resumed_run_is_the_one_never_stopped(
    precision: str,
    backend: str,
    shards: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    more = ("--backend", backend, "--precision", precision)
    whole, stopped = (small_run(shards, tmp_path / name, *more) for name in ("whole", "stopped"))
    main(whole)
    sample = Learner.sample
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "sample", lambda *given: os.kill(os.getpid(), signal.SIGINT) or sample(*given))
        with pytest.raises(SystemExit) as ended:
            main(stopped)
    assert ended.value.code == 130
    assert "stopped; the same command with --resume goes on from here" in capsys.readouterr().err
    main([*stopped, "--resume"])
    assert "going on from step 3" in capsys.readouterr().err
    assert numbers(tmp_path / "stopped" / "log.jsonl") == numbers(tmp_path / "whole" / "log.jsonl")
    newest = Path("checkpoints") / "step-00000006"
    assert files(tmp_path / "stopped" / newest) == files(tmp_path / "whole" / newest)


def test_behind_a_damaged_checkpoint_a_run_goes_on_from_the_one_before(
    shards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = small_run(shards, tmp_path / "run")
    main(command)
    newest = tmp_path / "run" / "checkpoints" / "step-00000006"
    whole, log = files(newest), numbers(tmp_path / "run" / "log.jsonl")
    (newest / "moments.safetensors").unlink()
    main([*command, "--resume"])
    said = capsys.readouterr().err
    assert f"warning: {newest / 'moments.safetensors'}: cannot be read (No such file or directory): set aside" in said
    assert "going on from step 4" in said
    assert (files(newest), numbers(tmp_path / "run" / "log.jsonl")) == (whole, log)


def test_a_run_may_be_made_longer_where_the_schedule_was(shards: Path, tmp_path: Path) -> None:
    for name, steps in (("whole", ["6"]), ("longer", ["4", "6"])):
        for each in steps:
            main(small_run(shards, tmp_path / name, "--total", "9", "--steps", each, "--resume"))
    newest = Path("checkpoints") / "step-00000006"
    assert files(tmp_path / "longer" / newest) == files(tmp_path / "whole" / newest)


def test_a_longer_run_keeps_the_schedule_that_it_was_begun_with(
    shards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for steps in ("20", "22"):
        main(small_run(shards, tmp_path / "longer", "--steps", steps, "--resume"))
    assert (
        "warning: the run was begun for 20 steps: from there on the learning rate stays at its"
        in capsys.readouterr().err
    )
    main(small_run(shards, tmp_path / "stated", "--steps", "22", "--total", "20", "--warmup", "2"))
    newest = Path("checkpoints") / "step-00000022"
    assert files(tmp_path / "longer" / newest) == files(tmp_path / "stated" / newest)
    other = small_run(shards, tmp_path / "longer", "--steps", "22", "--resume", "--total", "22")
    assert "training.total: this run has 22, the checkpoint is of 20" in refused(other)


def refused(arguments: list[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return str(ended.value.code)


def test_what_is_there_is_not_overwritten(shards: Path, tmp_path: Path) -> None:
    command = small_run(shards, tmp_path / "run")
    main(command)
    kept = files(tmp_path)
    holds = f"error: {tmp_path / 'run' / 'checkpoints'}: holds checkpoints up to step 6; --resume goes on from there"
    assert refused(command).startswith(holds)
    log = ["--log", str(tmp_path / "run" / "log.jsonl"), "--output", str(tmp_path / "other")]
    assert "log.jsonl: a run's log is there" in refused([*command, *log])
    assert "training.lr: this run has 0.5, the checkpoint is of 0.001" in refused([*command, "--resume", "--lr", "0.5"])
    assert "model.hidden: this run has 12, the checkpoint is of 8" in refused([*command, "--resume", "--hidden", "12"])
    assert "start.deviation: this run has 1.0, the" in refused([*command, "--resume", "--deviation", "1"])
    assert "loader state: batch: this loader has 4, the" in refused([*command, "--resume", "--batch", "4"])
    assert files(tmp_path) == kept


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--data", "nowhere"], r"nowhere/manifest\.json: not there; expected a folder that"),
        (["--vocab", "256"], r"vocab: expected at least the 257 ids that the tokens in .* have, got 256"),
        (["--seq", "100000"], r"batches: expected a corpus of at least 2 x 100000 tokens"),
        (["--seq", "400"], r"validation: batches: expected a corpus of .*; --validate-every 0 goes without"),
        (["--backend", "else"], "--backend: expected reference, stub or the path of a library, got 'else'"),
        (["--backend", __file__], "expected a shared library|not a"),
    ],
)
def test_what_cannot_be_trained_is_named_before_anything_is_written(
    words: list[str], message: str, shards: Path, tmp_path: Path
) -> None:
    with pytest.raises(SystemExit, match=message):
        main(small_run(shards, tmp_path / "run", *words))
    assert not (tmp_path / "run").exists()


def test_a_library_that_was_not_built_is_named(shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.backend.builds", lambda: tmp_path)
    message = refused(small_run(shards, tmp_path / "run", "--backend", "stub"))
    assert "error: --backend stub: expected this project's C library in" in message
    assert "python -m conformance build stub" in message


def test_a_batch_that_ranks_cannot_share_is_named(shards: Path, tmp_path: Path) -> None:
    settings, _ = read_settings(small_run(shards, tmp_path / "run", "--micro-batches", "2"))
    message = r"batch: expected a multiple of ranks x micro_batches = 2 x 2, got 2"
    with pytest.raises(SettingsError, match=message):
        taking_turns(2, lambda ranks: run.Run(reference, settings, resume=False, warn=print, ranks=ranks))


def test_what_is_computed_again_changes_no_bit(shards: Path, tmp_path: Path) -> None:
    for name, more in (("plain", []), ("again", ["--recompute", "boundaries:1"])):
        main(small_run(shards, tmp_path / name, *more))
    assert files(tmp_path / "again" / "checkpoints") == files(tmp_path / "plain" / "checkpoints")


DIVERGING = ("--lr", "1e30", "--warmup", "0", "--clip-norm", "1e30")


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_a_run_that_skips_every_update_ends(precision: str, shards: Path, tmp_path: Path) -> None:
    more = (*DIVERGING, "--precision", precision, "--steps", "40", "--sample-every", "0", "--validate-every", "0")
    message = refused(small_run(shards, tmp_path / "run", *more))
    assert "expected a finite gradient within 32 steps, all were skipped; the newest checkpoint is of step" in message


def test_a_run_whose_gradients_are_no_numbers_ends(shards: Path, tmp_path: Path) -> None:
    message = refused(small_run(shards, tmp_path / "run", *DIVERGING))
    assert "expected a finite norm, got nan; the newest checkpoint is of step" in message


def test_a_second_process_does_not_work_on_the_same_run(shards: Path, tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    (tmp_path / "run").mkdir()
    descriptor = os.open(tmp_path / "run", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert refused(small_run(shards, tmp_path / "run")).endswith("run: another process is working on it")
    os.close(descriptor)


@pytest.mark.slow
def test_a_process_killed_at_random_moments_goes_on(stub_path: Path) -> None:
    command = [sys.executable, "tests/training/kill_training.py", "--kills", "3", "--library", str(stub_path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "the same bytes" in ended.stdout


def test_the_line_on_a_terminal_fits_and_is_rewritten(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    report = {"seconds": 0.5, "loss": 2.0, "norm": 1.0, "learning_rate": 1e-3, "loads": [[0.25, 0.75], [0.5, 0.5]]}
    terminal, log = Terminal(), io.StringIO()
    for stream in (terminal, log):
        shown = progress.Progress(4, 100, stream)
        shown(4, report)
        shown.close()
    assert "lr 1.00e-03  200 tokens/s  00:00:00 left  load 1.50 ▃▇ ▅▅\n" in log.getvalue()
    assert terminal.getvalue().startswith("\r\x1b[Kstep 4/4  loss 2.0000  norm 1.000  ")
    assert max(map(len, terminal.getvalue().split("\r\x1b[K"))) < 80
