"""The command: tasks are written and read, engines of every kind judged, and what does not fit is said in one line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from conformance.commands.cli import main
from conformance.graphs.files import read_task, text_of
from conformance.graphs.readings import READINGS, carried_out
from conformance.graphs.tasks import TASKS, shipped
from conformance.paths import CUDA, EXAMPLES
from conformance.report.files import read_jsonl

ENGINE = EXAMPLES / "graphs" / "with_numpy.py"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(
        tmp_path_factory.mktemp("engine"), (EXAMPLES / "graphs" / "engine.c").read_text(), "-Wall", "-Wextra", "-Werror"
    )


def compiled(folder: Path, text: str, *more: str) -> Path:
    (folder / "engine.c").write_text(text)
    flags = ["-std=c11", *more, "-O1", "-shared", "-fPIC", f"-I{CUDA / 'include'}"]
    subprocess.run(["cc", *flags, "-o", folder / "libengine.so", folder / "engine.c", "-lm"], check=True)
    return folder / "libengine.so"


def said(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    code = main(["graph", *map(str, words)])
    out, err = capsys.readouterr()
    return code, out + err


def results_of(name: str, reading: str = "") -> dict[str, np.ndarray]:
    chosen = next((one for one in READINGS if one.name == reading), None)
    if chosen:
        return carried_out(chosen, shipped(name))
    from conformance.graphs.engines.operations import call_operations
    from conformance.limits.namespaces import OnFloat32

    task = shipped(name)
    return call_operations(OnFloat32(), task.document, task.arrays)["results"]


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_what_its_files_hold(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said(capsys, tmp_path / "t", "--task", name)
    assert code == 0
    assert "results.safetensors, float32" in text
    assert text_of(read_task(tmp_path / "t")) == text_of(shipped(name))


def test_files_are_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, results = tmp_path / "t", tmp_path / "results.safetensors"
    said(capsys, folder, "--task", "sequences")
    results.write_bytes(safetensors.numpy.save(results_of("sequences")))
    assert said(capsys, folder, "--results", results)[1].startswith("results.safetensors conforms: 124 results of 1")
    results.write_bytes(safetensors.numpy.save(results_of("sequences", "return_sequences ignored")))
    code, text = said(capsys, folder, "--results", results)
    assert code == 1
    line = "results.safetensors does not conform: sequences: record 1 (rnn -> h) ignores return_sequences = true"
    assert text.startswith(line)


def test_what_is_missing_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, results = tmp_path / "t", tmp_path / "results.safetensors"
    said(capsys, folder, "--task", "layers")
    came = results_of("layers")
    del came["value.t"], came["gradient.w0"]
    came["value.u"][...] = np.frombuffer(b"\xff" * 4, np.float32)
    results.write_bytes(safetensors.numpy.save(came))
    code, text = said(capsys, folder, "--results", results)
    assert code == 1
    assert "record 1 (tanh -> t) was passed over: nothing was handed in for value.t (and 2 more" in text
    assert "record 2 (add -> u) was passed over: value.u was not written" in text
    assert "nothing was handed in for gradient.w0, to which record 0 (dense -> h) belongs" in text
    code, text = said(capsys, folder, "--results", results, "--partial")
    assert code == 0
    assert "conforms in what it handed in" in text
    assert "layers: not handed in, and not judged: value.t, value.u, gradient.w0" in text


def test_modules_and_libraries_are_judged(engine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option, path in (("--module", ENGINE), ("--library", engine)):
        code, text = said(capsys, option, path, "--task", "layers", "--jsonl", tmp_path / "run.jsonl")
        assert code == 0
        assert " conforms: 3" in text.splitlines()[0]
        assert text.splitlines()[0].endswith("results of 1 graph passed")
        assert read_jsonl(tmp_path / "run.jsonl").code == 0
    code, text = said(capsys, "--module", ENGINE, "--task", "images")
    assert code == 1
    assert "with_numpy.py does not conform: images: NotImplementedError: kind conv2d (with_numpy.py" in text


@pytest.mark.parametrize(
    ("change", "settings"),
    [
        ({"kind": "dense", "activation": "relu"}, {"optimizer": "sgd"}),
        ({"kind": "dense", "parameters": ["w"]}, {"optimizer": "sgd"}),
        ({"kind": "mse", "weight": 0.5}, {"optimizer": "sgd"}),
        ({}, {"optimizer": "adam"}),
        ({}, {"optimizer": "sgd", "clip_norm": 1.0}),
    ],
)
def test_the_examples_refuse_what_they_have_not(
    change: dict[str, object], settings: dict[str, object], engine: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """In C all of it; in Python the weight is there, and an update that is not there is not handed in."""
    records = [
        {"kind": "dense", "inputs": ["x"], "parameters": ["w", "b"], "output": "y", "units": 2},
        {"kind": "mse", "inputs": ["y", "t"], "output": "loss"},
    ]
    records = [one | change if one["kind"] == change.get("kind") else one for one in records]
    (tmp_path / "list.json").write_text(json.dumps({"records": records, "settings": settings}))
    shapes = ("--shape", "x=4,3", "--shape", "t=4,2")
    assert said(capsys, tmp_path / "t", "--list", tmp_path / "list.json", *shapes)[0] == 0
    assert "returned 1, expected 0" in said(capsys, tmp_path / "t", "--library", engine)[1]
    code, text = said(capsys, tmp_path / "t", "--module", ENGINE)
    assert code == ("weight" not in change)
    assert not code or "NotImplementedError" in text or "nothing was handed in for parameter" in text


@pytest.mark.parametrize(
    ("now", "then", "line"),
    [
        ("[i] += more", "[i] = more", "gradient.h: assigned, not added: it holds what comes by record 1"),
        ("(1 - y[i] * y[i])", "(1 - a[i] * a[i])", "gradient.h, to which record 1 (tanh -> t) and record 2"),
        ("old[k] - lr", "old[k] + lr", "the update of w0: it is added, not subtracted"),
        ("y[i] = tanhf(a[i])", "y[i - (i == 0)] = tanhf(a[i])", "wrote beside value.t: 4 bytes before its start"),
        ("memset(wanted[i].data, 0,", "memset(wanted[i].data, 0, 0 *", "gradient.y"),
        ("y[i] = a[i] + b[i];", ";", "record 2 (add -> u) was passed over: value.u was not written"),
        ("float sum = bias[u];", "float sum = 0;", "record 0 (dense -> h) does not read its parameter b0"),
        ("/ (float)size(x);\n    } else", ";\n    } else", "record 4 (mse -> loss): "),
    ],
)
def test_slips_of_an_engine_in_c_are_named(
    now: str, then: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (EXAMPLES / "graphs" / "engine.c").read_text()
    assert now in text
    library = compiled(tmp_path, text.replace(now, then))
    code, text = said(capsys, "--library", library, "--task", "layers")
    assert code == 1
    assert line in text


def test_an_engine_that_crashes_ends_its_own_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (EXAMPLES / "graphs" / "engine.c").read_text()
    library = compiled(tmp_path, text.replace("const Step step =", "*(volatile int*)8 = 1; const Step step ="))
    code, text = said(capsys, "--library", library, "--task", "layers")
    assert code == 1
    assert "layers: crashed" in text
    assert "SIGSEGV" in text


def test_what_an_engine_prints_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = ENGINE.read_text().replace(
        "    results: dict", "    print('no tensor w9', flush=True)\n    results: dict", 1
    )
    (tmp_path / "prints.py").write_text(text)
    code, text = said(capsys, "--module", tmp_path / "prints.py", "--task", "layers")
    assert code == 0
    assert "layers: printed: no tensor w9" in text


def test_a_list_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    older = [
        {"kind": "MATMUL", "input": 0, "parameter": 10, "output": 1, "attributes": {"units": 2}},
        {"kind": "ADD_BIAS", "input": 1, "parameter": 11, "output": 2},
        {"kind": "LOSS", "input": 2, "output": 3, "attributes": {"loss": "MSE", "label": 9}},
    ]
    (tmp_path / "list.json").write_text(json.dumps(older))
    (tmp_path / "my list.v2.json").write_text(json.dumps(older))
    code, text = said(capsys, tmp_path / "t", "--list", tmp_path / "list.json", "--shape", "x0=4,3")
    assert code == 2
    assert "--shape x0: expected one of the inputs" in text
    code, text = said(capsys, tmp_path / "t", "--list", tmp_path / "list.json", "--shape", "v0=4,3")
    assert "expected the shape of v9, got none: --shape v9=4,3" in text
    shapes = ("--shape", "v0=4,3", "--shape", "v9=4,2")
    assert said(capsys, tmp_path / "t", "--list", tmp_path / "list.json", *shapes)[0] == 0
    assert said(capsys, tmp_path / "v2", "--list", tmp_path / "my list.v2.json", *shapes)[0] == 0
    assert read_task(tmp_path / "v2").name == "my_list_v2"
    code, text = said(capsys, tmp_path / "t", "--on", "reference")
    assert code == 0
    assert text.startswith("reference conforms: ")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "expected a folder to write a graph to, or an engine to judge"),
        (["--results", "r"], "--results: expected the folder of its graph beside it"),
        (["{}", "--module", str(ENGINE)], "graph.json: expected a task, got none"),
        (["--shape", "x=2", "--on", "reference"], "--shape: expected a list of records beside it"),
        (["{}", "--task", "images", "--task", "layers"], "--task: expected one graph to write to a folder"),
        (["{}", "--report", "page.html"], "--report: expected an engine to judge beside it"),
        (["{}", "--partial"], "--partial: expected an engine to judge beside it"),
        (["--framework", "torch", "--on", "reference"], "expected --module beside it"),
        (["--library", "none.so"], "none.so"),
        (["--module", "{}/none.py"], "expected a file of Python, got none"),
    ],
)
def test_what_does_not_fit_is_said(
    words: list[str], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = said(capsys, *(word.replace("{}", str(tmp_path)) for word in words))
    assert code == 2
    assert line in text


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, tmp_path)
    before = (tmp_path / "graph.json").read_bytes()
    assert "expected a folder without a graph" in said(capsys, tmp_path, "--task", "layers")[1]
    assert (tmp_path / "graph.json").read_bytes() == before


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda d: d.pop("records"), "records: expected a list, got nothing"),
        (lambda d: d["settings"].update(lr="x"), "settings: lr: expected a float, got 'x'"),
        (lambda d: d["settings"].update(rate=1), "got rate"),
        (lambda d: d["records"][1].update(kind="tan"), "record 1 (tan -> t): kind: expected one of"),
        (lambda d: d.update(more=1), "got more too"),
        (lambda d: d["records"].pop(0), "expected"),
    ],
)
def test_a_damaged_task_is_said(change: object, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, tmp_path, "--task", "layers")
    document = json.loads((tmp_path / "graph.json").read_text())
    change(document)  # type: ignore[operator]
    (tmp_path / "graph.json").write_text(json.dumps(document))
    code, text = said(capsys, tmp_path, "--module", ENGINE)
    assert code == 2
    assert line in text


def test_the_page_draws_every_graph_and_marks_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, results = tmp_path / "t", tmp_path / "results.safetensors"
    said(capsys, folder, "--task", "documents")
    results.write_bytes(safetensors.numpy.save(results_of("documents", "add_bias without backward")))
    assert said(capsys, folder, "--results", results, "--report", tmp_path / "page.html")[0] == 1
    page = (tmp_path / "page.html").read_text()
    assert page.count("<svg") >= 1
    assert page.count('<g class="marked">') == 1
    assert "record 5 (add_bias -&gt; logits) has no backward" in page
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_a_task_s_numbers_are_finite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, tmp_path, "--task", "layers")
    arrays = dict(shipped("layers").arrays)
    x = arrays["input.x"].copy()
    x[1, 2] = np.nan
    safetensors.numpy.save_file(arrays | {"input.x": x}, tmp_path / "inputs.safetensors")
    code, text = said(capsys, tmp_path, "--on", "reference")
    assert code == 2
    assert "input.x: expected finite numbers, got nan" in text
