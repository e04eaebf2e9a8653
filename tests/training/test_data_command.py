from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from training.data import Tokens, digest, embedded_documents, load_tokenizer, tokenize
from training.data.__main__ import main

ROOT = Path(__file__).parents[2]


def test_the_embedded_text_is_the_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--output", str(tmp_path / "shards"), "--shard-tokens", "100000"])
    tokenizer = load_tokenizer(tmp_path / "shards" / "tokenizer.json")
    tokens = tokenize(embedded_documents(), tokenizer)
    assert Tokens.open(tmp_path / "shards").read(0, tokens.size).tolist() == tokens.tolist()
    assert digest(tokens) in capsys.readouterr().out


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
