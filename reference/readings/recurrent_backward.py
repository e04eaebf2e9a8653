"""Wrong readings of the gradients of recurrent layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from reference.arrays import Array, accumulate
from reference.ops import recurrent as ops
from reference.ops.through_time import TANH, before, parts_of, start, steps_back, weights_gradients

from .reading import Given, Reading, fed, giving
from .recurrent import PARTS, flag_of, kind_of, reordered

BACKWARDS = (ops.rnn_backward, ops.lstm_backward, ops.gru_backward)
_SEQUENCES = ("input", "output", "cells", "gates", "d_output")
_UPDATED = ("d_w_x", "d_w_h", "d_bias", "d_b_x", "d_b_h")


def _names(operation: Callable[..., Any]) -> tuple[str, ...]:
    biases = ("d_b_x", "d_b_h") if kind_of(operation) == "gru" else ("d_bias",)
    return ("d_input", "d_w_x", "d_w_h", *biases, "d_h0", *(("d_c0",) if kind_of(operation) == "lstm" else ()))


def _before(a: Given, state: str, sequence: str, flag: str) -> Array:
    return before(a[sequence], start(a[state], a[flag], a["input"], a["w_h"]))


def _one_step(operation: Callable[..., Any], a: Given, step: int) -> dict[str, Array]:
    """The gradients of one step by itself, added to nothing."""
    flag = flag_of(operation)
    changed: dict[str, Any] = {name: a[name][:, step : step + 1] for name in _SEQUENCES if name in a}
    changed |= {"h0": _before(a, "h0", "output", flag)[:, step], flag: 1, "beta": 0.0}
    if "c0" in a:
        changed["c0"] = _before(a, "c0", "cells", flag)[:, step]
    return dict(zip(_names(operation), operation(**{**a, **changed}), strict=True))


def _into(a: Given, found: dict[str, Array]) -> tuple[Array, ...]:
    return tuple(accumulate(v, a[n], a["beta"]) if n in _UPDATED else v for n, v in found.items())


def _truncated(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Nothing goes back from a step to the one before it."""

    def change(result: Any, a: Given) -> Any:
        steps = [_one_step(operation, a, step) for step in range(a["input"].shape[1])]
        found = {name: sum((one[name] for one in steps[1:]), steps[0][name]) for name in _UPDATED if name in steps[0]}
        whole = {"d_input": np.concatenate([one["d_input"] for one in steps], axis=1)}
        return _into(a, {name: {**steps[0], **found, **whole}[name] for name in _names(operation)})

    return giving(operation, change)


def _weights_of_last_step(operation: Callable[..., Any]) -> Callable[..., Any]:
    def change(result: Any, a: Given) -> Any:
        last = _one_step(operation, a, a["input"].shape[1] - 1)
        kept = dict(zip(_names(operation), result, strict=True))
        return tuple(accumulate(last[n], a[n], a["beta"]) if n in _UPDATED else v for n, v in kept.items())

    return giving(operation, change)


def _last_output(a: Given) -> Array:
    last = np.arange(a["d_output"].shape[1]) == a["d_output"].shape[1] - 1
    return np.where(last[:, None], a["d_output"], a["d_output"].dtype.type(0))


def _changed(operation: Callable[..., Any], names: tuple[str, ...], change: Callable[[Array, Given], Array]) -> Any:
    """Some of the results, changed."""

    def function(result: Any, a: Given) -> Any:
        pairs = zip(_names(operation), result, strict=True)
        return tuple(change(value, a) if name in names else value for name, value in pairs)

    return giving(operation, function)


def _averaged(operation: Callable[..., Any]) -> Callable[..., Any]:
    def function(result: Any, a: Given) -> Any:
        fresh = operation(**{**a, "beta": 0.0})
        pairs = zip(_names(operation), fresh, strict=True)
        return _into(a, {n: v / v.dtype.type(len(a["input"])) if n in _UPDATED else v for n, v in pairs})

    return giving(operation, function)


def _of_next_state(operation: Callable[..., Any]) -> Callable[..., Any]:
    """d_w_h by the state after each step: h0 is shifted in from behind."""

    def function(result: Any, a: Given) -> Any:
        flag, found = flag_of(operation), dict(zip(_names(operation), result, strict=True))
        old = _before(a, "h0", "output", flag)
        d_h = _d_pre(operation, a)[1].reshape(-1, PARTS[kind_of(operation)] * old.shape[-1])
        found["d_w_h"] = accumulate(d_h.T @ a["output"].reshape(-1, old.shape[-1]), a["d_w_h"], a["beta"])
        return tuple(found.values())

    return giving(operation, function)


def _d_pre(operation: Callable[..., Any], a: Given, **slips: bool) -> tuple[Array, Array, Array, Array]:
    """d_pre_x, d_pre_h, d_h0 and d_c0, with slips of the hand by name."""
    through, carried = {"rnn": _rnn, "lstm": _lstm, "gru": _gru}[kind_of(operation)](a, slips)
    d_x, d_h, d_h0 = steps_back(through, a["d_output"], a["w_h"])
    return d_x, d_h, d_h0, carried.get("d_c", d_h0)


def _rnn(a: Given, slips: dict[str, bool]) -> Any:
    def through(step: int, d_h: Array) -> tuple[Array, Array, Any]:
        y = a["output"][:, step]
        square = y if "square" in slips else y * y
        slope = 1 - square if a["activation"] == TANH or "tanh" in slips else (y > 0).astype(y.dtype)
        if "past" in slips:
            d_y = a["d_output"][:, step]
            d_h, slope = d_y * slope + (d_h - d_y), slope.dtype.type(1)
        return d_h * slope, d_h * slope, d_h.dtype.type(0)

    return through, {}


def _lstm(a: Given, slips: dict[str, bool]) -> Any:
    c, carried = _before(a, "c0", "cells", "has_state"), {"d_c": a["d_output"][:, 0] * 0}

    def through(step: int, d_h: Array) -> tuple[Array, Array, Any]:
        i, f, g, o = parts_of(a["gates"][:, step], 4)
        t = np.tanh(a["cells"][:, step])
        d = d_h * o * (1 if "flat" in slips else 1 - t * t) + (0 if "forgets" in slips else carried["d_c"])
        old = a["cells"][:, step] if "late" in slips else c[:, step]
        carried["d_c"] = d if "leaks" in slips else d * f
        d_o = d_h * (a["cells"][:, step] if "linear" in slips else t) * o * (1 - o)
        d_pre = np.concatenate([d * g * i * (1 - i), d * old * f * (1 - f), d * i * (1 - g * g), d_o], axis=-1)
        return d_pre, d_pre, d_h.dtype.type(0)

    return through, carried


def _gru(a: Given, slips: dict[str, bool]) -> Any:
    h = _before(a, "h0", "output", "has_h0")

    def through(step: int, d_h: Array) -> tuple[Array, Array, Any]:
        r, z, n, h_n = parts_of(a["gates"][:, step], 4)
        d_n = d_h * (z if "swapped" in slips else 1 - z) * (1 - n * n)
        d_r, d_z = d_n * h_n * r * (1 - r), d_h * (h[:, step] - n) * z * (1 - z)
        d_z = -d_z if "sign" in slips else d_z
        past = d_n if "unreset" in slips else d_n * r
        d_x, d_of_h = np.concatenate([d_r, d_z, d_n], axis=-1), np.concatenate([d_r, d_z, past], axis=-1)
        return d_x, d_of_h, d_h * (0 if "cut" in slips else 1 - z if "swapped" in slips else z)

    return through, {}


def _slipped(operation: Callable[..., Any], slip: str) -> Callable[..., Any]:
    """The operation with one slip."""

    def function(result: Any, a: Given) -> Any:
        d_x, d_h, d_h0, d_c0 = _d_pre(operation, a, **{slip: True})
        h = _before(a, "h0", "output", flag_of(operation))
        weights = weights_gradients(a["input"], a["w_x"], h, d_x, d_h, (None, None), 0.0)
        sums = {"d_bias": d_x, "d_b_x": d_x, "d_b_h": d_h}
        found = dict(zip(("d_input", "d_w_x", "d_w_h"), weights, strict=True)) | {"d_h0": d_h0, "d_c0": d_c0}
        found |= {name: np.sum(one, axis=(0, 1)) for name, one in sums.items()}
        return _into(a, {name: found[name] for name in _names(operation)})

    return giving(operation, function)


def _unforgotten_at_the_start(result: Any, a: Given) -> Any:
    """d_c0 of a first step that forgets nothing; all else as it is."""
    hidden = a["w_h"].shape[1]
    is_first_f = (np.arange(a["gates"].shape[1])[:, None] == 0) & (np.arange(4 * hidden) // hidden == 1)
    gates = np.where(is_first_f, a["gates"].dtype.type(1), a["gates"])
    return (*result[:-1], ops.lstm_backward(**(a | {"gates": gates}))[-1])


def _common() -> Iterator[Reading]:
    for operation in BACKWARDS:
        name, flag = operation.__name__, flag_of(operation)
        biases = tuple(one for one in _names(operation) if one in ("d_bias", "d_b_x", "d_b_h"))
        yield Reading(name, "truncated after one step", "Nothing goes back through the steps.", _truncated(operation))
        yield Reading(
            name, "weights of the last step", "The weights' gradients are assigned at every step, or taken once.",
            _weights_of_last_step(operation),
        )  # fmt: skip
        yield Reading(
            name, "last output alone", "Only the last step's gradient is read.", fed(operation, d_output=_last_output)
        )
        yield Reading(
            name, "states ignored", "The sequences are taken to begin with 0.", fed(operation, **{flag: lambda g: 0})
        )
        yield Reading(
            name, "assigned", "beta is ignored: gradients are not accumulated.", fed(operation, beta=lambda g: 0.0)
        )
        yield Reading(name, "averaged over the samples", "The weights' gradients are means.", _averaged(operation))
        yield Reading(
            name, "d_h0 missing", "What comes back to the start is not written out.",
            _changed(operation, ("d_h0",), lambda value, a: value * 0),
        )  # fmt: skip
        yield Reading(
            name, "bias left out", "The biases' gradients are 0.",
            _changed(operation, biases, lambda value, a: value * 0),
        )  # fmt: skip
        yield Reading(
            name, "d_w_h of the state after the step", "The states are not shifted by one step.",
            _of_next_state(operation),
        )  # fmt: skip


_SLIPS = (
    (ops.rnn_backward, "1 - y for 1 - y^2", "The output is not squared.", "square"),
    (ops.rnn_backward, "tanh's slope for both", "The number of the function is not read.", "tanh"),
    (ops.rnn_backward, "slope for the output alone", "What comes back passes the function's slope by.", "past"),
    (ops.lstm_backward, "tanh of the cell not differentiated", "d_c = d_h * o.", "flat"),
    (ops.lstm_backward, "cells' gradient not carried", "Only h is followed back.", "forgets"),
    (ops.lstm_backward, "cells' gradient not forgotten", "d_c goes back without f.", "leaks"),
    (ops.lstm_backward, "cell of the step for the one before", "d_f is taken of the new cell.", "late"),
    (ops.lstm_backward, "d_o of the cell itself", "The output gate's gradient has c in place of tanh(c).", "linear"),
    (ops.gru_backward, "z and 1 - z exchanged", "z says how much is new, as first published.", "swapped"),
    (ops.gru_backward, "path past the weights missing", "d_h * z is forgotten.", "cut"),
    (ops.gru_backward, "r missing in w_h's share", "The candidate's gradient is that of w_x . x for both.", "unreset"),
    (ops.gru_backward, "z's gradient of the other sign", "n - h for h - n.", "sign"),
)

READINGS = (
    *_common(),
    *(Reading(operation.__name__, name, why, _slipped(operation, slip)) for operation, name, why, slip in _SLIPS),
    Reading("rnn_backward", "w_h not transposed", "w_h . d_pre goes back, as from the forward's product.",
            fed(ops.rnn_backward, w_h=lambda g: np.copy(g["w_h"].T, order="C"))),
    Reading("lstm_backward", "d_c0 missing", "What comes back to the cell at the start is not written out.",
            _changed(ops.lstm_backward, ("d_c0",), lambda value, a: value * 0)),
    Reading("lstm_backward", "d_c0 without the first step's f", "What comes back to the first cells is not forgotten.",
            giving(ops.lstm_backward, _unforgotten_at_the_start)),
    Reading("lstm_backward", "start of h taken for that of the cell", "Both have the same shape.",
            fed(ops.lstm_backward, c0=lambda g: g["h0"])),
    Reading("gru_backward", "rows of z and r exchanged", "The weights' gradients are written in the order z, r, n.",
            _changed(ops.gru_backward, ("d_w_x", "d_w_h"), lambda value, a: reordered(value, (1, 0, 2)))),
)  # fmt: skip
