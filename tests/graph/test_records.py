"""Reading records: the forms there are, what they become, and what is said of wrong ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import graph
from graph import files
from tests.graph.samples import SAMPLES

RELU: dict[str, Any] = {"kind": "relu", "inputs": ["x"], "output": "y"}
CONV: dict[str, Any] = {"kind": "conv2d", "inputs": ["x"], "parameters": ["w"], "output": "h", "kernel": 3}
WRONG: dict[str, tuple[Any, str]] = {
    "no JSON": ("{", "graph: expected JSON, got text that is none: "),
    "no list": (3, "graph: expected a list of records, or a dict with one as records, got int 3"),
    "something beside": ({"records": [], "name": "n"}, "graph: expected records and inputs, got name too"),
    "an input twice": (
        {"records": [RELU], "inputs": ["x", "z", "x"]},
        "graph: inputs: expected every name once, got x twice",
    ),
    "no record": ([RELU, 7], "record 1: expected a dict, got int 7"),
    "no kind": ([{"inputs": ["x"], "output": "y"}], "record 0 (? -> y): kind: expected one, got nothing"),
    "no output": ([{"kind": "relu", "inputs": ["x"]}], "record 0 (relu -> ?): output: expected one, got nothing"),
    "unknown kind": ([RELU | {"kind": "relo"}], "record 0 (relo -> y): kind: expected one of dense, matmul, "),
    "output of no name": ([RELU | {"output": 3}], "record 0 (relu -> 3): output: expected a name, got 3"),
    "inputs of one word": (
        [RELU | {"inputs": "x"}],
        "record 0 (relu -> y): inputs: expected a list of names, got str 'x'",
    ),
    "inputs of numbers": ([RELU | {"inputs": [4]}], "record 0 (relu -> y): inputs: expected names, got int 4"),
    "too many inputs": ([RELU | {"inputs": ["x", "z"]}], "record 0 (relu -> y): inputs: expected input, got 2 (x, z)"),
    "no parameter": (
        [CONV | {"parameters": []}],
        "record 0 (conv2d -> h): parameters: expected weight[, bias], got 0 (none)",
    ),
    "unknown attribute": (
        [RELU | {"alpha": 0.1}],
        "record 0 (relu -> y): attribute alpha: expected no attributes, got an unknown one",
    ),
    "missing attribute": (
        [{name: value for name, value in CONV.items() if name != "kernel"}],
        "record 0 (conv2d -> h): attribute kernel: expected a whole number or two of them, >= 1, got nothing",
    ),
    "attribute of another type": (
        [CONV | {"stride": 1.5}],
        "record 0 (conv2d -> h): attribute stride: expected a whole number or two of them, >= 1, got 1.5",
    ),
    "a number past float64": (
        [RELU | {"kind": "scale", "scale": 10**400}],
        f"record 0 (scale -> y): attribute scale: expected a number, got {10**400}",
    ),
    "true is no number": (
        [CONV | {"groups": True}],
        "record 0 (conv2d -> h): attribute groups: expected a whole number, >= 1, got True",
    ),
    "attribute past its bound": (
        [RELU | {"kind": "dropout", "rate": 1.0}],
        "record 0 (dropout -> y): attribute rate: expected a number, >= 0 and < 1, got 1.0",
    ),
    "no such choice": (
        [RELU | {"kind": "gelu", "form": "exact"}],
        "record 0 (gelu -> y): attribute form: expected erf or tanh, got 'exact'",
    ),
    "attribute twice": (
        [CONV | {"attributes": {"kernel": 3}}],
        "record 0 (conv2d -> h): attribute kernel: expected one value, got two",
    ),
    "padding past half of the window": (
        [RELU | {"kind": "max_pool2d", "kernel": 3, "padding": 2}],
        "record 0 (max_pool2d -> y): attribute padding: expected at most half of the kernel, (3, 3), got (2, 2)",
    ),
    "older, no id": (
        [{"kind": "RELU", "input": [True], "output": 1}],
        "record 0 (RELU -> 1): input: expected an id: a whole number of 0 or more, a word, None or -1, got True",
    ),
    "older, no label": (
        [{"kind": "LOSS", "input": 1, "loss": "MSE"}],
        "record 0 (LOSS -> ?): attribute label: expected the id of a value, got None",
    ),
    "older, no loss": (
        [{"kind": "LOSS", "input": 1, "label": 2}],
        "record 0 (LOSS -> ?): attribute loss: expected the name of a loss, got None",
    ),
    "older, no output": (
        [{"kind": "RELU", "input": 1}],
        "record 0 (RELU -> ?): output: expected one id, got None",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_said_of_a_wrong_record(what: str) -> None:
    source, said = WRONG[what]
    with pytest.raises(graph.GraphError) as error:
        graph.read(source)
    assert str(error.value).startswith(said)


def test_attributes_are_typed_and_complete() -> None:
    (record,) = graph.read([CONV | {"kernel": [3, 2], "attributes": {"stride": 2}}]).records
    assert record.attributes == {
        "filters": None, "kernel": (3, 2), "stride": (2, 2), "padding": (0, 0), "dilation": (1, 1), "groups": 1,
    }  # fmt: skip
    (pool,) = graph.read([RELU | {"kind": "avg_pool2d", "kernel": 2}]).records
    assert pool.attributes["stride"] == (2, 2)
    assert pool.attributes["count_include_pad"] is True
    leaky = {"kind": "dense", "inputs": ["x"], "parameters": ["w"], "output": "y", "activation": "leaky_relu"}
    assert graph.read([leaky]).records[0].attributes["alpha"] == 0.01


def test_records_one_by_one() -> None:
    made = graph.make([graph.record("conv2d", ["x"], ["w"], "h", kernel=3), graph.record("relu", ["h"], output="y")])
    assert made == graph.read([CONV, RELU | {"inputs": ["h"]}])
    with pytest.raises(
        graph.GraphError, match=r"record 4 \(relu -> y\): attribute kernel: expected no attributes, got an"
    ):
        graph.record("relu", ["h"], output="y", number=4, kernel=3)


def test_inputs_are_what_nobody_writes() -> None:
    read = graph.read([{**RELU, "inputs": ["h"]}, {**RELU, "output": "h"}])
    assert read.inputs == ("x",)
    assert read.outputs == ("y",)


def test_older_records_become_what_all_others_are() -> None:
    older = [
        {"kind": "CONV2D", "input": 0, "parameter": 0, "output": 1, "kernel_size": 3, "pad": 1},
        {"kind": "MAXPOOL", "input": 1, "parameter": -1, "output": 2, "attributes": {"kernel": 2}},
        {"kind": "FLATTEN", "input": 2, "parameter": None, "output": 3},
        {"kind": "MATMUL", "input": 3, "parameter": 1, "output": 4},
        {"kind": "ADD_BIAS", "input": 4, "parameter": 2, "output": "logits"},
        {
            "kind": "LOSS",
            "input": "logits",
            "output": None,
            "loss": "SOFTMAX_CROSS_ENTROPY",
            "label": 9,
            "temperature": 2.0,
        },
    ]
    newer = [
        {"kind": "conv2d", "inputs": ["v0"], "parameters": ["p0"], "output": "v1", "kernel": 3, "padding": 1},
        {"kind": "max_pool2d", "inputs": ["v1"], "output": "v2", "kernel": 2},
        {"kind": "flatten", "inputs": ["v2"], "output": "v3"},
        {"kind": "matmul", "inputs": ["v3"], "parameters": ["p1"], "output": "v4"},
        {"kind": "add_bias", "inputs": ["v4"], "parameters": ["p2"], "output": "logits"},
        {"kind": "softmax_cross_entropy", "inputs": ["logits", "v9"], "output": "loss", "temperature": 2.0},
    ]
    assert graph.read(older) == graph.read(newer)


def test_older_records_of_sequences() -> None:
    older = [
        {"kind": "ADD", "input": [0, 1], "output": 2},
        {"kind": "SLICE_TIME", "input": 2, "output": 3, "start": 1, "time_steps": 2},
        {
            "kind": "LSTM",
            "input": 3,
            "parameter": [0, 1, 2],
            "output": 4,
            "hidden_size": 5,
            "num_layers": 1,
            "time_steps": 2,
        },
    ]
    newer = [
        {"kind": "add", "inputs": ["v0", "v1"], "output": "v2"},
        {"kind": "slice_steps", "inputs": ["v2"], "output": "v3", "first": 1, "count": 2},
        {"kind": "lstm", "inputs": ["v3"], "parameters": ["p0", "p1", "p2"], "output": "v4", "hidden": 5, "steps": 2},
    ]
    assert graph.read(older) == graph.read(newer)


@pytest.mark.parametrize("name", SAMPLES)
def test_json_gives_the_same_graph_again(name: str) -> None:
    read = SAMPLES[name].graph
    assert graph.read(files.dumps(read)) == read
    assert graph.Graph.read(json.loads(files.dumps(read))) == read


def test_files(tmp_path: Path) -> None:
    path, read = tmp_path / "graph.json", graph.read([RELU])
    files.write(read, path)
    assert files.read(path) == read
    with pytest.raises(graph.GraphError, match=r"graph.json: expected a path where nothing lies yet, got a file"):
        files.write(graph.read([CONV]), path)
    assert files.read(path) == read
    files.write(graph.read([CONV]), path, overwrite=True)
    assert files.read(path) == graph.read([CONV])
    assert [*tmp_path.iterdir()] == [path]


def test_what_is_said_of_wrong_files(tmp_path: Path) -> None:
    with pytest.raises(graph.GraphError, match=r"none.json: expected a file of JSON text, got none that can be read"):
        files.read(tmp_path / "none.json")
    (tmp_path / "wrong.json").write_text('[{"kind": "relo", "inputs": ["x"], "output": "y"}]', encoding="utf-8")
    with pytest.raises(graph.GraphError, match=r"wrong.json: record 0 \(relo -> y\): kind: expected one of dense"):
        files.read(tmp_path / "wrong.json")
