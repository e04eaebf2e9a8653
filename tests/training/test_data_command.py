from __future__ import annotations

import io
import itertools
import re
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest

from training.data import (
    BpeTokenizer,
    ByteTokenizer,
    Tokens,
    embedded_documents,
    load_tokenizer,
    progress,
    tokenize,
    unfinished,
)
from training.data.__main__ import _parser, main
from training.data.encoding import split_of

ROOT = Path(__file__).parents[2]


def test_the_embedded_text_is_the_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "shards"
    main(["--output", str(folder), "--shard-tokens", "100000", "--validation", "0", "--workers", "1"])
    tokens = tokenize(embedded_documents(), load_tokenizer(folder / "tokenizer.json"))
    opened = Tokens.open(folder)
    assert opened.read(0, tokens.size).tolist() == tokens.tolist()
    printed = capsys.readouterr()
    assert f"{tokens.size} tokens" in printed.out
    assert opened.fingerprint in printed.out
    assert printed.err == ""
    main(["--check", str(folder)])
    assert capsys.readouterr().out == printed.out


def test_a_tenth_of_the_documents_is_for_validation(tmp_path: Path) -> None:
    main(["--output", str(tmp_path / "shards")])
    train, validation = (Tokens.open(tmp_path / "shards", split) for split in ("train", "validation"))
    assert len(train) > 3 * len(validation) > 0
    assert len(train) + len(validation) == tokenize(embedded_documents(), ByteTokenizer()).size


def test_byte_pairs_are_not_learned_from_what_is_for_validation(tmp_path: Path) -> None:
    texts = {str(number): str(number) * 50 for number in range(20)}
    (tmp_path / "text").mkdir()
    for name, text in texts.items():
        (tmp_path / "text" / name).write_text(text, encoding="utf-8")
    options = ["--input", str(tmp_path / "text"), "--output", str(tmp_path / "shards"), "--tokenizer", "bpe"]
    main([*options, "--validation", "0.5", "--vocab", "270"])
    learned = BpeTokenizer.train((texts[name] for name in sorted(texts) if split_of(texts[name], 0.5) == "train"), 270)
    assert (tmp_path / "shards" / "tokenizer.json").read_text(encoding="utf-8") == learned.as_json()


def test_a_learned_tokenizer_is_not_learned_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "text" / "b"
    bad.parent.mkdir()
    bad.with_name("a").write_text("the cat sat on the mat", encoding="utf-8")
    bad.write_text("the end", encoding="utf-8")
    options = ["--input", str(bad.parent), "--output", str(tmp_path / "shards"), "--tokenizer", "bpe", "--vocab", "260"]
    with monkeypatch.context() as patch:
        patch.setattr(unfinished.Unfinished, "finish", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(SystemExit, match="stopped; the same command with --resume goes on from here"):
            main(options)
    with pytest.raises(SystemExit, match=r"error: .*left by a run that was stopped; resume it, or remove this folder"):
        main(options)
    monkeypatch.setattr(BpeTokenizer, "train", None)
    main([*options, "--resume"])
    assert Tokens.open(tmp_path / "shards").vocab_size == 260


def test_progress_is_one_line_on_a_terminal_and_a_line_a_minute_in_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    split = types.SimpleNamespace(tokens=75)
    work = types.SimpleNamespace(done=1, size=500_000, splits={"train": split, "validation": split})
    for stream, seconds in ((io.StringIO(), 50.0), (Terminal(), 0.05)):
        clock = itertools.count(0.0, seconds)
        monkeypatch.setattr(time, "monotonic", lambda clock=clock: next(clock))
        shown = progress.Progress(4, 2_000_000, stream)
        for work.size in (500_000, 1_000_000, 1_500_000):
            shown(work)  # type: ignore[arg-type]
        shown.close()
        rate = 0.5 / (2 * seconds)
        line = f"1/4 documents (50 %), 150 tokens, {rate:.1f} MB/s"
        assert stream.getvalue() == (f"\r\x1b[K{line}\r\x1b[K" if stream.isatty() else f"{line}\n")


def test_help_shows_commands_that_parse(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    commands = re.findall(r"^  python -m training\.data (.*)$", capsys.readouterr().out, re.MULTILINE)
    assert len(commands) == 5
    for command in commands:
        _parser().parse_args(command.split())


def test_a_tokenizer_is_trained_on_the_input_and_used_again(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "a.txt").write_text("the cat sat on the mat", encoding="utf-8")
    source = ["--input", str(tmp_path / "text")]
    main([*source, "--output", str(tmp_path / "one"), "--tokenizer", "bpe", "--vocab", "260"])
    saved = str(tmp_path / "one" / "tokenizer.json")
    main([*source, "--output", str(tmp_path / "two"), "--tokenizer", saved])
    one, two = Tokens.open(tmp_path / "one"), Tokens.open(tmp_path / "two")
    assert one.vocab_size == two.vocab_size == 260
    assert one.read(0, len(one)).tolist() == two.read(0, len(two)).tolist()


def test_a_mistake_ends_with_one_line_and_exit_code_1(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "training.data", "--input", "nowhere", "--output", str(tmp_path / "shards")]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == "error: nowhere: expected a text file or a folder, found nothing\n"
