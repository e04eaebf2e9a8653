"""Settings from flags and files: flags win, and whatever cannot be meant is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reference.model.config import TINY
from reference.step import TrainingConfig
from training.settings import Settings, SettingsError, read_settings
from training.settings.declared import DECLARED
from training.settings.read import EXAMPLES


def read(*words: str) -> Settings:
    return read_settings(["--data", "shards", *words])[0]


def test_what_is_not_given_is_the_configuration_as_it_is() -> None:
    settings = read()
    assert settings.model() == TINY
    assert settings.training() == TrainingConfig(lr=1e-3, warmup=100, total=1000)
    assert read("--steps", "50000").training().warmup == 2000


def test_flags_reach_both_configurations() -> None:
    settings = read("--hidden", "32", "--norm-eps", "1e-5", "--adam-eps", "1e-7", "--steps", "30", "--warmup", "0")
    assert (settings.model().hidden, settings.model().eps) == (32, 1e-5)
    training = settings.training()
    assert (training.eps, training.warmup, training.total) == (1e-7, 0, 30)
    assert read("--steps", "30", "--total", "60").training().total == 60


def test_flags_win_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text('config = "bench"\nseq = 256\nlr = 1\nprompt = "The"\noutput = "there"\n', encoding="utf-8")
    settings, resume = read_settings(["--settings", str(file), "--data", "shards", "--seq", "32"])
    assert (settings.config, settings.seq, settings.lr, settings.prompt) == ("bench", 32, 1.0, "The")
    assert (settings.output, settings.data, resume) == (Path("there"), Path("shards"), False)


def test_a_flag_may_stand_alone(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text("expert_parallel = true\n", encoding="utf-8")
    assert read("--expert-parallel", "--seq", "32").expert_parallel
    assert read("--settings", str(file)).expert_parallel
    assert not read("--settings", str(file), "--expert-parallel", "false").expert_parallel
    assert not read().expert_parallel


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--sequ 3", "the command line: --sequ: there is no such setting; did you mean --seq?"),
        ("--xyz=3", "the command line: --xyz: there is no such setting (--help lists those there are)"),
        ("--seq 1.5", "--seq: expected a whole number at least 1, got '1.5'"),
        ("--seq 0", "--seq: expected a whole number at least 1, got 0"),
        ("--lr fast", "--lr: expected a finite number at least 0, got 'fast'"),
        ("--lr nan", "--lr: expected a finite number at least 0, got nan"),
        ("--beta2 1", "--beta2: expected a finite number at least 0 and below 1, got 1.0"),
        ("--config big", "--config: expected one of full, tiny, bench, got big"),
        ("--micro-batches 3", "micro_batches: expected a divisor of batch = 8, got 3"),
        ("--kv-heads 3", "kv_heads: expected a divisor of q_heads = 4, got 3"),
        ("--warmup 1000", "total: expected more than warmup = 1000, got 1000"),
        ("--recompute every:3", "recompute: k: expected at most the 2 layers there are, got 3"),
        ("--expert-parallel yes", "--expert-parallel: expected true or false, got 'yes'"),
        ("--settings nowhere.toml", "--settings: nowhere.toml: cannot be read (No such file or directory)"),
    ],
)
def test_a_bad_flag_is_named(words: str, message: str) -> None:
    with pytest.raises(SettingsError) as raised:
        read(*words.split())
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("batchs = 3", "batchs: there is no such setting; did you mean batch?"),
        ('seq = "64"', "seq: expected a whole number at least 1, got '64'"),
        ("seq = true", "seq: expected a whole number at least 1, got True"),
        ("seq = 1.5", "seq: expected a whole number at least 1, got 1.5"),
        ("lr = -1", "lr: expected a finite number at least 0, got -1.0"),
        ("lr = inf", "lr: expected a finite number at least 0, got inf"),
        ("prompt = 3", "prompt: expected a text, got 3"),
        ("expert_parallel = 1", "expert_parallel: expected true or false, got 1"),
        ("data = 3", "data: expected a path, got 3"),
        ("seq = ", "not TOML (Invalid value (at end of document))"),
    ],
)
def test_a_bad_line_of_a_file_is_named(line: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(line, encoding="utf-8")
    with pytest.raises(SettingsError) as raised:
        read("--settings", str(file))
    assert str(raised.value).removeprefix("--settings: ") == f"{file}: {message}"


def test_the_data_has_to_be_given() -> None:
    with pytest.raises(SettingsError, match=r"--data: expected the folder that .* has written, got nothing"):
        read_settings([])


def test_help_shows_every_setting_and_commands_that_parse(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        read_settings(["--help"])
    printed = capsys.readouterr().out
    assert [each.flag for each in DECLARED.values() if f"\n  {each.flag} " not in printed] == []
    commands = re.findall(
        r"^  %\(prog\)s (.*)$", EXAMPLES.replace("--settings run.toml", "--data shards"), re.MULTILINE
    )
    assert len(commands) == 3
    for command in commands:
        read_settings(command.split())
