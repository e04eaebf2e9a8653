"""The example in C: compiled under sanitisers, its outputs judged, its reader fed damaged files."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from conformance.catalogue.goldens import FOLDER, file_of, golden_ids
from conformance.commands.cli import main

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "examples/offline/offline.c"
OPERATIONS = ("silu", "rmsnorm", "softmax", "gemm")
FILES = [file_of(id) for id in golden_ids() if id.partition("/")[0] in OPERATIONS]
GOOD = FOLDER / "rmsnorm/plain/2x33x1e-06.safetensors"
CHANGES, CUTS = 300, 40


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("offline") / "offline"
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-ffp-contract=off"]
    checked = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    compiler = [os.environ.get("CC", "cc"), *strict, str(SOURCE), "-o", str(built), "-lm"]
    if subprocess.run([*compiler, *checked], capture_output=True, check=False).returncode:
        subprocess.run(compiler, check=True)  # a compiler without sanitisers
    return built


def answer(program: Path, goldens: Path, outputs: Path, files: list[str]) -> subprocess.CompletedProcess[str]:
    for file in files:
        (outputs / file).parent.mkdir(parents=True, exist_ok=True)
    return subprocess.run([program, goldens, outputs, *files], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_its_outputs_pass(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert answer(program, FOLDER, tmp_path / "outputs", FILES).returncode == 0
    words = " or ".join(f"{operation}/" for operation in OPERATIONS)
    assert main(["run", "--outputs", "outputs", "-k", f"({words}) and not _"]) == 0, capsys.readouterr().out
    assert main(["run", "--outputs", "outputs"]) == 1
    assert f"{len(FILES)} PASS, " in capsys.readouterr().out


def test_reader_and_writer_fit_on_a_few_pages() -> None:
    assert len((SOURCE.parent / "tensors.h").read_text().splitlines()) < 150


def refused(program: Path, folder: Path, content: bytes) -> str:
    (folder / "rmsnorm").mkdir(parents=True, exist_ok=True)
    (folder / "rmsnorm/x.safetensors").write_bytes(content)
    done = answer(program, folder, folder / "out", ["rmsnorm/x.safetensors"])
    assert done.returncode in (0, 1), done.stderr  # anything else is a sanitiser's
    return done.stderr if done.returncode else ""


def file_with(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "too short for its header"),
        (b"1234567", "too short for its header"),
        ((2**63).to_bytes(8, "little") + b"{}", "too short for its header"),
        ((3).to_bytes(8, "little") + b"{}", "too short for its header"),
        (file_with(b"{}x"), "none of safetensors"),
        (file_with(b"[]"), "none of safetensors"),
        (file_with({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, bytes(8)), "none of safetensors"),
        (file_with({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, bytes(4)), "none of safetensors"),
        (file_with({"a": {"dtype": "F32", "shape": [2], "data_offsets": [8, 0]}}, bytes(8)), "none of safetensors"),
        (file_with({"a": {"dtype": "F33", "shape": [1], "data_offsets": [0, 4]}}, bytes(4)), "none of safetensors"),
        (file_with({"a": {"dtype": "F32", "shape": [2**55] * 8, "data_offsets": [0, 0]}}), "none of safetensors"),
        (file_with({"a": {"dtype": "F64", "shape": [1], "data_offsets": [4, 12]}}, bytes(12)), "none of safetensors"),
        (
            file_with({"expected.output": {"dtype": "F32", "shape": [1, 1], "data_offsets": [0, 4]}}, bytes(4)),
            "lacks what",
        ),
        (file_with(b"{}"), "lacks what"),
        (file_with({'a"': {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, bytes(4)), "none of safetensors"),
        (
            file_with({"a" * 96: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, bytes(4)),
            "none of safetensors",
        ),
        (
            file_with(b'{"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},' * 2 + b"}", bytes(4)),
            "none of safetensors",
        ),
    ],
)
def test_a_file_that_is_none_is_refused(content: bytes, said: str, program: Path, tmp_path: Path) -> None:
    assert said in refused(program, tmp_path, content)


def test_a_damaged_file_never_leads_the_reader_astray(program: Path, tmp_path: Path) -> None:
    """Hundreds in one call, under the sanitisers: each is told, none ends it."""
    good, draw = GOOD.read_bytes(), random.Random(7)
    header = 8 + int.from_bytes(good[:8], "little")
    spoilt = [good[: draw.randrange(len(good))] for _ in range(CUTS)]
    for _ in range(CHANGES):
        content = bytearray(good)
        content[draw.randrange(header)] = draw.randrange(256)
        spoilt.append(bytes(content))
    folder = tmp_path / "gemm"  # not what the file is of: what is lacking must be noticed, too
    folder.mkdir()
    for number, content in enumerate(spoilt):
        (folder / f"{number}.safetensors").write_bytes(content)
    done = answer(program, tmp_path, tmp_path / "out", [f"gemm/{number}.safetensors" for number in range(len(spoilt))])
    assert done.returncode == 1, done.stderr
    assert len(done.stderr.splitlines()) == len(spoilt)


def test_what_the_writer_makes_the_reader_reads(program: Path, tmp_path: Path) -> None:
    shutil.copytree(GOOD.parent, tmp_path / "rmsnorm/plain")
    name = f"rmsnorm/plain/{GOOD.name}"
    assert answer(program, tmp_path, tmp_path / "out", [name]).returncode == 0
    done = answer(program, tmp_path / "out", tmp_path / "again", [name])
    assert "lacks what the operation's goldens hold" in done.stderr  # it was read, and holds no inputs
