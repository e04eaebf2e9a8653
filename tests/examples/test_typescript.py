"""The example in TypeScript: files that are none, or of another operation, are told and never answered."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from conformance.catalogue.goldens import FOLDER
from conformance.languages.listed import PORTS
from conformance.languages.ports import build, lacking
from conformance.paths import EXAMPLES

GOOD = FOLDER / "rmsnorm/plain/2x33x1e-06.safetensors"
Done = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    port = next(port for port in PORTS if port.name == "typescript")
    if reason := lacking(port):
        pytest.skip(f"typescript: {reason}")
    folder = tmp_path_factory.mktemp("typescript")
    return build(port, Path(shutil.copytree(EXAMPLES / port.folder, folder / "source")), folder).answers


def answer(program: tuple[str, ...], *words: Path) -> Done:
    return subprocess.run((*program, *map(str, words)), capture_output=True, text=True, check=False, timeout=60)


def file_with(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype: str, shape: object, offsets: object) -> dict[str, object]:
    return {"input.input": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


BAD = {
    "empty": (b"", "a header of the length it says"),
    "short": (b"1234567", "a header of the length it says"),
    "huge": ((2**63).to_bytes(8, "little") + b"{}", "a header of the length it says"),
    "no JSON": (file_with(b"{}x"), "a header of safetensors"),
    "no text": (file_with(b'{"\xff": 1}'), "a header of safetensors"),
    "a list": (file_with(b"[]"), "a header that is an object"),
    "null": (file_with({"input.input": None}), "input.input within the file"),
    "a type": (file_with(entry("F33", [1], [0, 4]), bytes(4)), "input.input within the file"),
    "inherited": (file_with(entry("toString", [1], [0, 4]), bytes(4)), "input.input within the file"),
    "cut": (file_with(entry("F32", [2], [0, 8]), bytes(4)), "input.input within the file"),
    "backwards": (file_with(entry("F32", [2], [8, 0]), bytes(8)), "input.input within the file"),
    "negative": (file_with(entry("F32", [-1, -1], [0, 4]), bytes(4)), "input.input within the file"),
    "a fraction": (file_with(entry("F32", [0.5, 2], [0, 4]), bytes(4)), "input.input within the file"),
    "nothing": (file_with(b"{}"), "expected input.input, got a file without it"),
    "flat": (file_with(entry("F32", [1], [0, 4]), bytes(4)), "input.input: expected 2 axes, got [1]"),
    "other type": (file_with(entry("I32", [1, 1], [0, 4]), bytes(4)), "expected F32 [1,1], got I32 [1,1]"),
}


def test_a_file_that_is_none_is_told_and_the_others_are_answered(program: tuple[str, ...], tmp_path: Path) -> None:
    goldens, results = tmp_path / "goldens/rmsnorm", tmp_path / "results"
    goldens.mkdir(parents=True)
    for name, (content, _) in BAD.items():
        (goldens / f"{name}.safetensors").write_bytes(content)
    shutil.copy(GOOD, goldens / "good.safetensors")
    done = answer(program, goldens.parent, results)
    assert done.returncode == 1
    told = {line.partition(".safetensors: ")[0].removeprefix("rmsnorm/"): line for line in done.stderr.splitlines()}
    assert told.keys() == BAD.keys()
    assert {name: said for name, (_, said) in BAD.items() if said not in told[name]} == {}
    assert [path.relative_to(results).as_posix() for path in results.rglob("*.*")] == ["rmsnorm/good.safetensors"]


def test_words_that_are_none_and_a_folder_without_goldens_are_told(program: tuple[str, ...], tmp_path: Path) -> None:
    assert answer(program, tmp_path).returncode == 2
    done = answer(program, tmp_path, tmp_path / "results")
    assert done.returncode == 1
    assert "expected a folder of goldens" in done.stderr
    assert not (tmp_path / "results").exists()
