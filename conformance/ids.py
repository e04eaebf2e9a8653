"""Ids of cases and results: taken apart here and nowhere else.

rmsnorm/plain/2x33x1e-06      a case of the catalogue: operation, data, sizes
rmsnorm/designed/3x33x1_late  a case of the design: operation, sizes and scalars, what fills each array
rmsnorm/refused/null_input    a call that must be refused
rmsnorm/sequence/alternating  several calls in a row
probe/rmsnorm/output          a property of an operation
full/rope_qk/head_dim_256     a call at the full model's sizes; of several of one operation with the name of this one
step1-bf16/locked/012 rmsnorm(final_norm)    a call of a locked step: its place, and what it works on
steps/free/2.014 gemm(layers.0.w_q)          a call of a free step: of the second, its place there
steps/full_layer/012 grouped_gemm(gate)      a call of one layer of the full model
steps/recomputed/every:2      a whole step, by one way through it
step/envelope-bf16/03         a training run after its third step
training_step/tiny/2x36       a whole step that somebody else has run: handed in as a file, or as a function
"""

from __future__ import annotations

PROBE, FULL, LOCKED = "probe/", "full/", "/locked"
FULL_LAYER = "steps/full_layer"
DESIGNED, REFUSED, SEQUENCE = "/designed/", "/refused/", "/sequence/"
AFTER_REFUSED, OF_REFUSED = "/after_refused", "/refused_thousand"  # of a sequence's id
OF_MANY = "_of_many_"  # of a refusal's name
MANY_LONG, WITHOUT_MEMORY = "/sequence/many_long", "/sequence/without_memory"


def is_probe(id: str) -> bool:
    """Whether it is of a property."""
    return id.startswith(PROBE)


def is_full(id: str) -> bool:
    """Whether it is of calls at full size."""
    return id.startswith((FULL, FULL_LAYER))


def is_designed(id: str) -> bool:
    """Whether it is of a case of the design."""
    return DESIGNED in id


def is_refusal(id: str) -> bool:
    """Whether it is of a call that must be refused."""
    return REFUSED in id


def is_sequence(id: str) -> bool:
    """Whether it is of several calls in a row."""
    return SEQUENCE in id


def is_of_refusals(id: str) -> bool:
    """Whether it is of calls that must be refused, or of what comes after them."""
    return is_refusal(id) or (is_sequence(id) and id.endswith((AFTER_REFUSED, OF_REFUSED)))


def is_many_long(id: str) -> bool:
    """Whether it is of one long call again and again."""
    return id.endswith(MANY_LONG)


def is_of_many(id: str) -> bool:
    """Whether it is of a call to be refused for one entry of a long index array."""
    return is_refusal(id) and OF_MANY in id


def is_without_memory(id: str) -> bool:
    """Whether it is of calls that get no memory."""
    return id.endswith(WITHOUT_MEMORY)


def is_of_step(id: str) -> bool:
    """Whether it is of a training step or run, rather than of one operation."""
    return id.startswith("step")


def operation_of(id: str) -> str:
    """Return the operation that any of these is of but a step; of a golden step "training_step"."""
    return id.removeprefix(PROBE).removeprefix(FULL).partition("/")[0]


def property_of(id: str) -> str:
    """Return the property that a probe is of."""
    return id.rpartition("/")[2]


def step_of(id: str) -> str:
    """Return the training step or run that a result is of: step1-bf16/locked."""
    return "/".join(id.split("/")[:2])


def place_of(id: str) -> str:
    """Return the place of a result in its step, "" of the step itself: 012, 2.014, every:2."""
    return _within(id).partition(" ")[0]


def label_of(id: str) -> str:
    """Return what a call of a step works on: rmsnorm(final_norm)."""
    return _within(id).partition(" ")[2]


def is_locked(step: str) -> bool:
    """Whether every call of a step is judged on inputs of its own."""
    return step.endswith(LOCKED)


def name_of_locked(step: str) -> str:
    """Return the number and format of a locked step: 1-bf16."""
    return step.removesuffix(LOCKED).removeprefix("step")


def format_of_step(step: str) -> str:
    """Return the short format that a step or run is made in, as bf16 of step/envelope-bf16; "" in float32."""
    name = step.removesuffix(LOCKED)
    return name.rpartition("-")[2] if "-" in name else ""


def _within(id: str) -> str:
    return id.removeprefix(step_of(id)).removeprefix("/")
