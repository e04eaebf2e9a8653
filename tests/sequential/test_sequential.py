"""Training by Sequential: Keras' behaviour, the same numbers as a graph's own steps, and clear errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

import reference
from bindings import Library
from graph.optimizers import SGD, AdamW
from reference import random
from sequential import (
    GRU,
    LSTM,
    Activation,
    AvgPool2D,
    BatchNorm,
    Conv2D,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    LayerNorm,
    LeakyReLU,
    MaxPool2D,
    SavedError,
    Sequential,
    SimpleRNN,
    Softmax,
    SparseCategoricalCrossentropy,
)
from sequential.batches import batches, split
from sequential.history import History
from sequential.layers import LAYERS, layer_of
from sequential.layers.activations import ACTIVATIONS

F32 = np.float32


def samples(count: int, *shape: int, name: str = "x") -> Any:
    return random.normal(random.stream("sequential", name), (count, *shape)).astype(F32)


def classes(count: int, below: int = 3) -> Any:
    return random.integers(random.stream("sequential", "classes"), 0, below, count)


def small(**settings: Any) -> Sequential:
    return Sequential([Dense(5, activation="tanh"), Dropout(0.5), Dense(3, activation="softmax")], **settings)


def compiled(**settings: Any) -> Sequential:
    model = small(input_shape=(4,), **settings)
    model.compile("adam", "sparse_categorical_crossentropy", ["accuracy"])
    return model


@pytest.mark.parametrize(
    ("layers", "shape", "behind"),
    [
        ([Conv2D(6, 3, padding="same", groups=2), BatchNorm(), MaxPool2D(), Flatten(), Dense(2)], (4, 7, 6), (2,)),
        ([Conv2D(2, (3, 1), strides=2, padding=(1, 0), dilation_rate=(1, 2))], (1, 8, 8), (2, 4, 4)),
        ([AvgPool2D(3, strides=1, padding="same"), LeakyReLU(), Flatten(), Dense(3)], (2, 4, 4), (3,)),
        ([Embedding(9, 4), LSTM(5, return_sequences=True), LayerNorm(), GRU(3)], (6,), (3,)),
        ([SimpleRNN(3, activation="relu", return_sequences=True), Dense(2), Softmax()], (5, 4), (5, 2)),
    ],
)
def test_layers_train_on_reference_and_library(layers: Any, shape: Any, behind: Any, stub_path: Path) -> None:
    x = random.integers(3, 0, 9, (4, *shape)) if isinstance(layers[0], Embedding) else samples(4, *shape)
    y = samples(4, *behind, name="y")
    found = []
    for ops in (reference, Library(stub_path)):
        model = Sequential(layers, ops=ops)
        model.compile("sgd", "mse")
        before = model.evaluate(x, y)
        for _ in range(20):
            model.train_on_batch(x, y)
        assert model.evaluate(x, y) < before
        assert model.predict(x).shape == (4, *behind)
        found.append(model)
    first, second = ({name: array.shape for name, array in each.state_dict().items()} for each in found)
    assert first == second


def test_the_loss_of_an_epoch_is_the_mean_over_its_samples() -> None:
    """Of 7 samples in batches of 4 and 3; the mean of the two batches' losses is another."""
    x, y, model = samples(7, 4), classes(7), compiled()
    model.compile(SGD(lr=0.0), "sparse_categorical_crossentropy", ["accuracy"])
    clean = Sequential([layer for layer in model.layers if not isinstance(layer, Dropout)], input_shape=(4,))
    clean.compile(SGD(lr=0.0), "sparse_categorical_crossentropy", ["accuracy"])
    history = clean.fit(x, y, batch_size=4, verbose=0, shuffle=False).history
    parts = [clean.evaluate(x[:4], y[:4]), clean.evaluate(x[4:], y[4:])]
    for place, name in enumerate(("loss", "accuracy")):
        assert history[name] == [(parts[0][place] * 4 + parts[1][place] * 3) / 7]
    right = [7 * clean.evaluate(x, y, batch_size=size)[1] for size in (2, 7)]
    assert round(right[0]) == round(right[1]) == round(4 * parts[0][1] + 3 * parts[1][1])


def test_validation_takes_the_last_samples_before_any_shuffle() -> None:
    x, y = np.arange(10.0)[:, None], np.arange(10)
    (kept, _), (held, labels) = split(x, y, 0.25)
    assert (len(kept), held.ravel().tolist(), labels.tolist()) == (7, [7, 8, 9], [7, 8, 9])
    model = compiled()
    history = model.fit(samples(10, 4), classes(10), epochs=2, validation_split=0.25, verbose=0)
    assert history.epoch == [0, 1]
    assert list(history.history) == ["loss", "accuracy", "val_loss", "val_accuracy"]
    last = model.evaluate(samples(10, 4)[7:], classes(10)[7:], return_dict=True)
    assert {f"val_{name}": value for name, value in last.items()} == {
        name: values[-1] for name, values in history.history.items() if name.startswith("val_")
    }


def test_the_same_seed_trains_the_same_and_another_does_not() -> None:
    x, y = samples(20, 4), classes(20)
    first, again, other = (compiled(seed=seed) for seed in (1, 1, 2))
    losses = [model.fit(x, y, batch_size=8, epochs=2, verbose=0).history["loss"] for model in (first, again, other)]
    assert losses[0] == losses[1] != losses[2]
    orders = [np.concatenate([*batches(20, 8, seed)]).tolist() for seed in (1, 2)]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == [*range(20)]


def test_training_goes_on_from_a_file_as_if_it_had_not_ended(tmp_path: Path) -> None:
    x, y, model = samples(20, 4), classes(20), compiled()
    model.fit(x, y, batch_size=8, epochs=1, verbose=0)
    model.save(tmp_path / "model.safetensors")
    loaded = Sequential.load(tmp_path / "model.safetensors")
    assert loaded.layers == model.layers
    assert np.array_equal(loaded.predict(x), model.predict(x))
    both = [each.fit(x, y, batch_size=8, epochs=2, verbose=0).history for each in (model, loaded)]
    assert both[0] == both[1]
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda tensors, held: tensors.pop("dense.bias"), "missing dense.bias"),
        (lambda tensors, held: tensors.pop("optimizer/1/dense.bias"), "moments: missing optimizer/1/dense.bias"),
        (lambda tensors, held: held.update(format=2), "expected a configuration of format 1, got 2"),
        (lambda tensors, held: held.pop("settings"), "settings"),
        (lambda tensors, held: held["layers"][0].update(layer="Dance"), "layer: expected one of .*, got 'Dance'"),
        (lambda tensors, held: held["layers"][0].update(units=6), "dense.weight: expected the shape"),
        (lambda tensors, held: held["layers"][0].update(unit=6), "Dense: .*'unit'"),
        (lambda tensors, held: held["compiled"].update(loss="hinge"), "loss: expected one of"),
    ],
)
def test_a_file_that_holds_no_model_is_refused(change: Any, said: str, tmp_path: Path) -> None:
    model, path = compiled(), tmp_path / "model.safetensors"
    model.train_on_batch(samples(4, 4), classes(4))
    model.save(path)
    with safe_open(path, "numpy") as opened:
        held = json.loads(opened.metadata()["sequential"])
        tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118  (no mapping)
    change(tensors, held)
    save_file(tensors, path, {"sequential": json.dumps(held)})
    with pytest.raises(SavedError, match=f"model.safetensors: .*{said}"):
        Sequential.load(path)


def test_what_is_no_file_of_ours_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Sequential.load(tmp_path / "none.safetensors")
    (tmp_path / "a").write_bytes(b"no tensors")
    with pytest.raises(SavedError, match="a: expected a safetensors file"):
        Sequential.load(tmp_path / "a")
    save_file({"x": np.zeros(1)}, tmp_path / "b")
    with pytest.raises(SavedError, match="b: expected a model's configuration in the metadata"):
        Sequential.load(tmp_path / "b")


SETTINGS: dict[str, dict[str, Any]] = {
    "Dense": {"units": 3, "use_bias": False},
    "Conv2D": {"filters": 4, "kernel_size": (3, 1), "strides": 2, "padding": (1, 0), "groups": 2},
    "MaxPool2D": {"pool_size": 3, "padding": 1},
    "AvgPool2D": {"strides": (1, 2)},
    "SimpleRNN": {"units": 3, "activation": "relu"},
    "LSTM": {"units": 3, "unit_forget_bias": False},
    "GRU": {"units": 3, "return_sequences": True},
    "Activation": {"activation": "gelu"},
    "Dropout": {"rate": 0.25},
    "Embedding": {"input_dim": 3, "output_dim": 2},
}


@pytest.mark.parametrize("kind", LAYERS)
def test_a_layer_is_made_again_from_its_configuration(kind: str) -> None:
    layer = LAYERS[kind](**SETTINGS.get(kind, {}), name="mine")
    assert layer_of(json.loads(json.dumps(layer.configuration()))) == layer


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_an_activation_s_name_and_its_layer_are_the_same(activation: str) -> None:
    """In a dense layer, behind a convolution and by itself."""
    x = samples(3, 4)
    inside = Sequential([Dense(4, activation=activation)], input_shape=(4,), dtype="float64")
    behind = Sequential([Dense(4), Activation(activation)], input_shape=(4,), dtype="float64")
    assert np.array_equal(inside.predict(x), behind.predict(x))
    planes = Sequential([Conv2D(4, 1, activation=activation), Flatten()], input_shape=(4, 1, 1), dtype="float64")
    apart = Sequential([Conv2D(4, 1), Activation(activation), Flatten()], input_shape=(4, 1, 1), dtype="float64")
    assert np.array_equal(planes.predict(x[:, :, None, None]), apart.predict(x[:, :, None, None]))


def test_a_call_with_labels_that_do_not_fit_builds_nothing() -> None:
    model = small()
    model.compile("sgd", "sparse_categorical_crossentropy")
    with pytest.raises(ValueError, match="class numbers from 0 to 2, got 7"):
        model.fit(samples(4, 4), np.array([0, 1, 7, 2]), verbose=0)
    with pytest.raises(RuntimeError, match="expected a built model"):
        model.state_dict()
    model.fit(samples(4, 6), classes(4), verbose=0)


def test_running_statistics_are_state_and_follow_keras_momentum() -> None:
    """Of numbers whose mean, 4, and variance, 40 / 4 of a sample, are exact."""
    model = Sequential([BatchNorm(momentum=0.75)], input_shape=(1,))
    model.compile(SGD(lr=0.0), "mse")
    x = np.array([[0], [2], [4], [6], [8]], F32)
    model.train_on_batch(x, x)
    state = model.state_dict()
    assert state["batch_norm.running_mean"].tolist() == [0.25 * 4]
    assert state["batch_norm.running_var"].tolist() == [0.75 + 0.25 * 10]


def test_a_state_dict_that_does_not_fit_changes_nothing() -> None:
    model = compiled()
    before = model.state_dict()
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({n: a for n, a in before.items() if n != "dense.bias"}, KeyError, "missing dense.bias"),
        (before | {"more": np.zeros(1)}, KeyError, "unexpected more"),
        (before | {"dense_1.weight": np.zeros((5, 3))}, ValueError, r"dense_1.weight: expected the shape \(3, 5\)"),
        (before | {"dense_1.bias": np.array(["a", "b", "c"])}, ValueError, "expected an array of numbers"),
        (before | {"dense_1.bias": np.array([1e300, 0, 0])}, ValueError, "more than float32 holds"),
    ]
    for state, kind, said in wrong:
        moved = {name: array + 1 if array.dtype.kind == "f" else array for name, array in state.items()}
        with pytest.raises(kind, match=said):
            model.load_state_dict(moved)
        assert all(np.array_equal(before[name], array) for name, array in model.state_dict().items())
    model.load_state_dict({name: array + 1 for name, array in before.items()})
    assert all(np.array_equal(before[name] + 1, array) for name, array in model.state_dict().items())


def test_what_the_model_hands_out_is_a_copy() -> None:
    model = compiled()
    model.state_dict()["dense.weight"][:] = 0
    assert model.state_dict()["dense.weight"].any()


def test_a_softmax_at_the_end_and_its_loss_are_one_record() -> None:
    model = Sequential([Dense(3), Softmax(temperature=2.5)], input_shape=(4,))
    model.compile("sgd", "categorical_crossentropy")
    last = model.graph().records[-1]
    assert (last.kind, last.inputs[0], last.attributes["temperature"]) == ("softmax_cross_entropy", "dense", 2.5)
    model.compile("sgd", SparseCategoricalCrossentropy(from_logits=True))
    assert model.graph().records[-1].inputs[0] == "softmax"
    plain = Sequential([Dense(3)], input_shape=(4,))
    with pytest.raises(ValueError, match="ends in a softmax, or from_logits=True; the last record is dense"):
        plain.compile("sgd", "sparse_categorical_crossentropy")


@pytest.mark.parametrize(
    ("layers", "shape", "said"),
    [
        ([Dense(3), Conv2D(2, 3)], (4,), r"layer 1 \(conv2d\): .*samples of \(channels, height, width\)"),
        ([Conv2D(2, 3)], (1, 2, 2), r"layer 0 \(conv2d\): .*a padded height of 3 at least"),
        ([Conv2D(2, 4, padding="same")], (1, 8, 8), "one side more than the other: give a number"),
        ([Conv2D(4, 3, groups=2)], (3, 8, 8), "a divisor of 3 channels"),
        ([Dense(3), Embedding(5, 2)], (4,), "layer 1 .*expected to be the first"),
        ([LSTM(3)], (4,), r"expected samples of \(steps, width\), got the shape \(4,\)"),
        ([Dense(3, name="label")], (4,), "name: expected one of its own"),
    ],
)
def test_a_layer_that_a_shape_does_not_fit_is_named(layers: Any, shape: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Sequential(layers, input_shape=shape)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Dense(0), "Dense: units: expected a whole number of at least 1, got 0"),
        (lambda: Dense(3, activation="rely"), "Dense: activation: expected one of .*relu.*, got 'rely'"),
        (lambda: Conv2D(2, 0), "Conv2D: kernel_size: .*, got 0"),
        (lambda: Conv2D(2, 3, padding="full"), "Conv2D: padding: .*, got 'full'"),
        (lambda: Conv2D(3, 3, groups=2), "a divisor of 3 filters, got 2"),
        (lambda: Dropout(1.0), "Dropout: rate: expected a number of at least 0 and below 1, got 1.0"),
        (lambda: LSTM(2, return_sequences=1), "LSTM: return_sequences: expected True or False, got 1"),  # type: ignore[arg-type]
        (lambda: SimpleRNN(2, activation="gelu"), "SimpleRNN: activation: expected one of tanh, relu"),
        (lambda: Softmax(temperature=0.0), "Softmax: temperature: expected a number above 0"),
        (lambda: Sequential(dtype="float16"), "dtype: expected float32 or float64, got float16"),
        (lambda: small(input_shape=(None, 3)), "input_shape: expected a whole number of at least 1, got None"),
        (lambda: small(input_shape=(3.7,)), "input_shape: expected a whole number of at least 1, got 3.7"),
        (lambda: small(input_shape=3), "input_shape: expected lengths of a sample's axes, got 3"),
    ],
)
def test_a_wrong_setting_is_named(make: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda m: small().state_dict(), RuntimeError, "state_dict: expected a built model"),
        (lambda m: small().fit(samples(4, 4), classes(4)), RuntimeError, "fit: expected a compiled model"),
        (lambda m: m.add(Dense(2)), RuntimeError, "not built yet"),
        (lambda m: small().add(3), TypeError, "expected layers, got int"),
        (lambda m: m.compile("adagrad", "mse"), ValueError, "optimizer: expected one of .*, got 'adagrad'"),
        (lambda m: m.compile("sgd", "hinge"), ValueError, "loss: expected one of .*, got 'hinge'"),
        (lambda m: m.compile({"optimizer": "SGD", "rate": 1}, "mse"), ValueError, "compile: optimizer: .*'rate'"),
        (lambda m: m.compile("sgd", {"loss": "mse", "axis": 1}), ValueError, "compile: loss: .*'axis'"),
        (lambda m: m.compile("sgd", np.zeros(3)), ValueError, "compile: loss: expected one of mean_squared_error"),
        (lambda m: m.compile("sgd", "mse", None), ValueError, "metrics: expected a list of names, got None"),
        (lambda m: m.compile("sgd", "mse", clip_norm="1"), ValueError, "clip_norm: expected a number above 0, got 1"),
        (lambda m: m.compile("sgd", "mse", ["f1"]), ValueError, "metrics: expected names of .*, got 'f1'"),
        (lambda m: m.compile("sgd", "mse", clip_norm=0.0), ValueError, "clip_norm: expected a number above 0"),
        (lambda m: m.predict(samples(4, 5)), ValueError, r"x: expected the shape \(samples, 4\).*, got \(4, 5\)"),
        (lambda m: m.fit(samples(4, 4), classes(3)), ValueError, "as many labels as samples, got 3 and 4"),
        (lambda m: m.fit(samples(4, 4), classes(4) + 1), ValueError, "class numbers from 0 to 2, got 3"),
        (lambda m: m.fit(samples(4, 4), classes(4), batch_size=0), ValueError, "batch_size: .*at least 1, got 0"),
        (lambda m: m.fit(samples(4, 4), classes(4), epochs=-1), ValueError, "epochs: .*at least 0, got -1"),
        (lambda m: m.fit(samples(4, 4), classes(4), verbose=3), ValueError, "verbose: expected one of auto, 0, 1, 2"),
        (lambda m: m.fit(samples(1, 4), classes(1), validation_split=0.5), ValueError, "leaves none to one of"),
        (lambda m: m.fit(samples(4, 4), classes(4), validation_split=1.5), ValueError, "between 0 and 1, got 1.5"),
    ],
)
def test_a_call_that_cannot_be_carried_out_says_why_and_changes_nothing(call: Any, kind: Any, said: str) -> None:
    model = compiled()
    before, by = model.state_dict(), model.graph()
    with pytest.raises(kind, match=said):
        call(model)
    assert all(np.array_equal(before[name], array) for name, array in model.state_dict().items())
    assert model.graph() == by


def test_a_gradient_is_clipped_by_one_norm() -> None:
    """From parameters of 0 and with a rate of 1 they are minus the gradient, whose norm has 15 terms."""
    x, y, most = samples(6, 4), classes(6), 1e-3
    found = []
    for clip_norm in (None, most):
        model = Sequential([Dense(3, activation="softmax")], input_shape=(4,), dtype="float64")
        model.load_state_dict({name: 0 * array for name, array in model.state_dict().items()})
        model.compile(SGD(lr=1.0), "sparse_categorical_crossentropy", clip_norm=clip_norm)
        model.train_on_batch(x, y)
        found.append(np.sqrt(sum(float((each**2).sum()) for each in model.state_dict().values())))
    # The bound is rounded to float32, as it reaches an operation; both norms are sums of 15 squares in float64.
    slack = np.spacing(F32(most)) + 2 * 15 * most * np.finfo(float).eps
    assert abs(found[1] - most) <= slack
    assert found[0] > 10 * most


def test_keras_defaults_stand_behind_optimizers_by_name() -> None:
    model = compiled()
    model.compile("adamw", "categorical_crossentropy")
    by = model._compiled("test").optimizer
    assert isinstance(by, AdamW)
    assert (by.lr, by.beta1, by.beta2, by.eps, by.weight_decay) == (1e-3, 0.9, 0.999, 1e-7, 0.004)


def test_a_history_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="an optional extra")
    history = compiled().fit(samples(10, 4), classes(10), epochs=3, validation_split=0.3, verbose=0)
    history.plot(tmp_path / "a.svg")
    history.plot(tmp_path / "b.svg")
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text()
    assert all(f">{said}<" in text for said in ("loss", "accuracy", "epoch", "validation"))
    with pytest.raises(ValueError, match="one epoch or more"):
        History().plot(tmp_path / "c.svg")


def test_epochs_are_shown_as_asked(capsys: pytest.CaptureFixture[str]) -> None:
    model = compiled()
    for verbose, lines in ((0, 0), ("auto", 2), (2, 2)):
        model.fit(samples(10, 4), classes(10), epochs=2, verbose=verbose)
        said = capsys.readouterr().out.splitlines()
        assert len(said) == lines
        assert all(line.startswith(f"Epoch {n + 1}/2 - ") and " - loss: " in line for n, line in enumerate(said))
    model.fit(samples(10, 4), classes(10), verbose=1)
    assert "Epoch 1/1" in capsys.readouterr().out
    model.summary()
    said = capsys.readouterr().out
    assert "dense_1 (Dense)" in said
    assert "Total params: 43" in said


@pytest.mark.parametrize(
    ("model", "x", "said"),
    [
        (
            [Embedding(5, 3), Flatten(), Dense(1)],
            np.where(np.arange(70)[:, None] == 69, 9, np.zeros((70, 4), int)),
            "fit: x: expected class numbers from 0 to 4, got 9",
        ),
        ([Embedding(5, 3), Flatten(), Dense(1)], np.full((4, 4), -1), "expected class numbers from 0 to 4, got -1"),
        ([Dense(3), BatchNorm(), Dense(1)], samples(33, 4), "expected more than one number in a channel while train"),
    ],
)
def test_what_a_later_batch_does_not_fit_is_said_before_the_first(model: Any, x: Any, said: str) -> None:
    made = Sequential(model, input_shape=(4,))
    made.compile("sgd", "mse")
    before = made.state_dict()
    with pytest.raises(ValueError, match=said):
        made.fit(x, np.ones(len(x)), shuffle=False, verbose=0)
    assert all(np.array_equal(before[name], array) for name, array in made.state_dict().items())


def test_what_could_not_be_loaded_is_not_saved(tmp_path: Path) -> None:
    class Mine(SGD):
        pass

    class Own(Dense):
        pass

    model = small(input_shape=(4,))
    model.compile(Mine(0.1), "mse")
    with pytest.raises(ValueError, match=r"save: optimizer: expected one of SGD, .*, got Mine"):
        model.save(tmp_path / "m")
    with pytest.raises(ValueError, match=r"save: expected layers of Dense, .*, got Own"):
        Sequential([Own(2)], input_shape=(3,)).save(tmp_path / "m")
    assert not list(tmp_path.iterdir())
