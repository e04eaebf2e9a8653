"""What is timed, operation by operation: large arrays by themselves, and every call of a training step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

import reference
from conformance import operations
from reference.model.config import Config
from reference.model.parameters import Parameters, initialise
from reference.namespace import Namespace
from reference.step import State, TrainingConfig, start, training_step

from .sizes import SHORT, Sizes

TRAINING = TrainingConfig()


class Case(NamedTuple):
    """One call: its operation and shapes, the operation, and its arguments by the header's names, as they reach C."""

    id: str
    operation: str
    arguments: dict[str, Any]

    def call(self) -> list[Any]:
        """The arguments in order, the arrays copied: a library updates some in place."""
        return [_copy(value) for value in operations.ordered(operations.OPERATIONS[self.operation], self.arguments)]


def _copy(value: Any) -> Any:
    if isinstance(value, list):
        return [array.copy() for array in value]
    return value.copy() if isinstance(value, np.ndarray) else value


def _case(operation: str, arrays: tuple[Any, ...], numbers: dict[str, Any]) -> Case:
    function = operations.OPERATIONS[operation]
    names = [parameter.name for parameter in operations.read_arrays(function)]
    given = dict(zip(names, arrays, strict=True)) | numbers
    present = operations.typed(function, {name: value for name, value in given.items() if value is not None})
    return Case(_id(operation, arrays), operation, {name: present.get(name) for name in given})


def batch(sizes: Sizes) -> tuple[Any, Any]:
    """Tokens and targets of a step."""
    rng = np.random.default_rng(1)
    tokens, targets = (rng.integers(0, sizes.config.vocab, (sizes.batch, sizes.seq), np.int32) for _ in range(2))
    return tokens, targets


@cache
def _parameters(config: Config) -> Parameters:
    return initialise(config, seed=0, dtype=np.float32)


def initial_state(sizes: Sizes) -> State:
    """Where training starts, in arrays of its own: a library updates them in place."""
    return start({name: array.copy() for name, array in _parameters(sizes.config).items()})


class Recorder(Namespace):
    """The reference, noting the first call of each operation on arrays of the same shapes."""

    def __init__(self) -> None:
        self.cases: dict[str, Case] = {}

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        id = _id(operation, args)
        if id not in self.cases:
            self.cases[id] = _case(operation, args, named)
        return getattr(reference, operation)(*args, **named)


def _id(operation: str, arrays: tuple[Any, ...]) -> str:
    return " ".join([operation, *map(_shape, arrays)])


def _shape(array: Any) -> str:
    if isinstance(array, list):
        return f"{len(array)}*{sum(a.size for a in array) // len(array)}"
    return "x".join(map(str, array.shape)) if array is not None else "-"


@cache
def of_a_step(sizes: Sizes) -> dict[str, Case]:
    """Every call of a training step, by id."""
    recorder = Recorder()
    training_step(recorder, sizes.config, TRAINING, initial_state(sizes), *batch(sizes))
    return recorder.cases


_IMAGES = (16, 64, 56 * 56)
_WINDOW = {"kernel_h": 3, "kernel_w": 3, "stride_h": 2, "stride_w": 2, "pad_h": 1, "pad_w": 1}
_PLANES = {"height": 56, "width": 56, **_WINDOW}
_MEAN = {"count_include_pad": 0}
_STEPS = (64, 256, 768)

# Sizes of figures published for CPUs: operation, shapes of its arrays (the range of indices), numbers.
LARGE: tuple[tuple[str, tuple[Any, ...], dict[str, Any]], ...] = (
    ("softmax", ((4096, 4096),), {}),
    ("rmsnorm", ((8192, 768), (768,)), {"eps": 1e-6}),
    ("gemm", ((1024, 1024), (1024, 1024)), {}),
    ("cross_entropy_forward", ((2048, 32000), (2048, "of", 32000)), {}),
    ("cross_entropy_backward", ((2048, 32000), (2048, "of", 32000)), {"scale": 1 / 2048}),
    (
        "adamw_step",
        ((10_000_000,),) * 4,
        {"lr": 1e-4, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1, "step": 3},
    ),
    *((f"{loss}_forward", ((10_000_000,),) * 2, {}) for loss in ("mse", "bce", "bce_logits")),
    *((f"{loss}_backward", ((10_000_000,),) * 2, {"scale": 1.0}) for loss in ("mse", "bce", "bce_logits")),
    ("categorical_cross_entropy_forward", ((100_000, 100),) * 2, {}),
    ("categorical_cross_entropy_backward", ((100_000, 100),) * 2, {"scale": 1.0}),
    ("cross_entropy_dense_forward", ((100_000, 100),) * 2, {"temperature": 2.0}),
    ("cross_entropy_dense_backward", ((100_000, 100),) * 2, {"temperature": 2.0, "scale": 1.0}),
    ("sgd_step", ((10_000_000,),) * 2, {"lr": 1e-2, "weight_decay": 1e-4}),
    ("momentum_step", ((10_000_000,),) * 3, {"lr": 1e-2, "momentum": 0.9, "weight_decay": 1e-4, "nesterov": 1}),
    (
        "adam_step",
        ((10_000_000,),) * 4,
        {"lr": 1e-4, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1, "step": 3},
    ),
    ("swiglu", ((8192 * 2048,),) * 2, {}),
    ("scatter_add", ((8192, 768), (8192, "of", 32000), (32000, 768)), {}),
    ("layernorm", ((8192, 768), (768,), (768,)), {"eps": 1e-5}),
    (
        "layernorm_backward",
        ((8192, 768), (768,), (8192,), (8192,), (8192, 768), (768,), (768,)),
        {"beta": 1.0},
    ),
    ("batchnorm_training", (_IMAGES, *[(64,)] * 4), {"momentum": 0.1, "eps": 1e-5}),
    ("batchnorm_evaluation", (_IMAGES, *[(64,)] * 4), {"eps": 1e-5}),
    ("batchnorm_backward", (_IMAGES, *[(64,)] * 3, _IMAGES, *[(64,)] * 2), {"beta": 1.0}),
    ("dropout", ((8192 * 768,), (2,)), {"rate": 0.1}),
    ("dropout_backward", ((8192 * 768,), (2,)), {"rate": 0.1}),
    *((operation, ((4096 * 1024,),), {}) for operation in ("relu", "sigmoid", "tanh", "gelu", "gelu_tanh")),
    *((f"{operation}_backward", ((4096 * 1024,),) * 2, {}) for operation in ("relu", "sigmoid", "tanh", "gelu")),
    ("gelu_tanh_backward", ((4096 * 1024,),) * 2, {}),
    *((operation, ((4096 * 1024,),), {"alpha": 0.1}) for operation in ("leaky_relu", "elu")),
    *((f"{operation}_backward", ((4096 * 1024,),) * 2, {"alpha": 0.1}) for operation in ("leaky_relu", "elu")),
    ("softmax_temperature", ((4096, 1024),), {"temperature": 0.7}),
    ("softmax_temperature_backward", ((4096, 1024),) * 2, {"temperature": 0.7}),
    ("add_row", ((8192, 768), (768,)), {}),
    ("add_row_backward", ((8192, 768), (768,)), {"beta": 1.0}),
    ("add_column", ((8192, 768), (8192,)), {}),
    ("add_column_backward", ((8192, 768), (8192,)), {"beta": 1.0}),
    ("dense", ((1024, 768), (3072, 768), (3072,)), {"activation": 7, "alpha": 1.0, "has_bias": 1}),
    ("dense_backward", ((1024, 768), (3072, 768)), {"activation": 7, "alpha": 1.0, "beta": 1.0}),  # of the layer
    ("max_pool2d", ((64, 64, 56, 56),), _WINDOW),
    ("max_pool2d_backward", ((64, 64, 56, 56),), _PLANES),  # of the planes that were pooled
    ("avg_pool2d", ((64, 64, 56, 56),), {**_WINDOW, **_MEAN}),
    ("avg_pool2d_backward", ((64, 64, 28, 28),), {**_PLANES, **_MEAN}),
    ("slice_steps", (_STEPS,), {"first": 64, "count": 128}),
    ("slice_steps_backward", ((64, 128, 768),), {"steps": 256, "first": 64}),
    ("concat_steps", (_STEPS, _STEPS), {}),
    ("concat_steps_backward", ((64, 512, 768),), {"steps_a": 256, "steps_b": 256}),
)


def _pooled(arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the gradient of max pooling is given, of planes: the pooled ones for d_output, and their places."""
    output, places = reference.max_pool2d(*arrays, **_WINDOW)
    return output, places


def _multiplied(arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the gradient of the dense layer is given, of input and weight: pre of size one, and what is added to."""
    input, weight = arrays
    pre = input @ weight.T
    pre = (pre - pre.mean()) / pre.std()
    return input, weight, pre, np.flip(pre).copy(), weight.copy(), weight[:, 0].copy()


_FOLLOWING: dict[str, Callable[[tuple[Any, ...]], tuple[Any, ...]]] = {
    "max_pool2d_backward": _pooled,
    "dense_backward": _multiplied,
}


def large(number: int, divisor: int) -> Case:
    """One of LARGE, its rows divided; all numbers positive, as a second moment has to be."""
    operation, _, numbers = LARGE[number]
    rng = np.random.default_rng(0)
    arrays = tuple(
        rng.integers(0, shape[2], shape[0], np.int32) if "of" in shape else rng.random(shape, np.float32)
        for shape in _divided(number, divisor)
    )
    case = _case(operation, _FOLLOWING.get(operation, tuple)(arrays), numbers)
    return case._replace(id=_id(operation, arrays))


# Convolutions by kernels of 3 x 3 that leave planes as large as they are: samples, channels and filters, a side.
LAYERS = ((16, 64, 56), (16, 256, 14))
CONVOLUTIONS: Mapping[str, dict[str, Any]] = {
    "conv2d": {"has_bias": 1},
    "conv2d_backward_input": {},
    "conv2d_backward_weight": {"beta": 0.0},
    "conv2d_backward_bias": {"beta": 0.0},
}


def convolution(operation: str, layer: tuple[int, int, int], divisor: int) -> Case:
    """An operation of one of LAYERS, its samples divided, of which one is left."""
    batch, channels, side = layer
    sizes = {
        "batch": max(1, batch // divisor),
        "in_channels": channels,
        "out_channels": channels,
        "height": side,
        "width": side,
    }
    sizes |= {"out_h": side, "out_w": side, "kernel_h": 3, "kernel_w": 3, "groups": 1}
    sizes |= {f"{name}_{axis}": 1 for name in ("stride", "pad", "dilation") for axis in "hw"}
    function = operations.OPERATIONS[operation]
    given, rng = sizes | CONVOLUTIONS[operation], np.random.default_rng(0)
    arrays = tuple(
        rng.random([axis.size(given) for axis in parameter.shape], np.float32) if parameter.is_read(given) else None
        for parameter in operations.read_arrays(function)
    )
    return _case(operation, arrays, {name: given[name] for name in operations.scalars(function)})


def _divided(number: int, divisor: int) -> list[tuple[Any, ...]]:
    """The shapes of one of LARGE, rows and ranges of indices divided; a row's weight, and what is short, is not."""
    shapes = LARGE[number][1]

    def divided(rows: int, *others: Any) -> tuple[Any, ...]:
        if (rows, *others) == shapes[0][1:] or rows <= divisor:
            return (rows, *others)
        return rows // divisor, *(["of", others[1] // divisor] if "of" in others else others)

    return [divided(*shape) for shape in shapes]


def _itself(case: Case) -> Case:
    return case


class Timed(NamedTuple):
    """A case, made when it is asked for, and one with fewer rows to see first whether all compute the same."""

    case: Callable[[], Case]
    smaller: Callable[[], Case]


def timed(sizes: Sizes) -> dict[str, Timed]:
    """All that is timed, by id."""
    found = {}
    for number, (operation, _, _) in enumerate(LARGE):
        arrays = (shape[:1] if "of" in shape else shape for shape in _divided(number, sizes.divisor))
        id = " ".join([operation, *("x".join(map(str, shape)) for shape in arrays)])
        found[id] = Timed(partial(large, number, sizes.divisor), partial(large, number, SHORT.divisor))
    for layer in LAYERS:
        for operation in CONVOLUTIONS:
            whole = convolution(operation, layer, sizes.divisor)
            smaller = partial(convolution, operation, layer, SHORT.divisor)
            found[whole.id] = Timed(partial(convolution, operation, layer, sizes.divisor), smaller)
    for id, case in of_a_step(sizes).items():
        found[id] = Timed(partial(_itself, case), partial(_itself, case))
    return found
