"""Before anything is timed: what is compared computes the same, by the judge's own limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conformance import operations
from conformance.judging.verdict import Verdict, judge
from conformance.limits.expectation import expect
from conformance.limits.namespaces import Stored
from conformance.limits.noise import FLOAT32, Precision, exact, using
from reference.step import accumulate

from .backends import PYTORCH, REFERENCE, Backends
from .cases import Case, batch, initial_state
from .networks import RECURRENT_BACKWARD, with_forward
from .sizes import Sizes

SOME = 32  # tokens of the step: as many as show every expert at work
FIRST = 4  # of a list of arrays: all of them cost more than they tell
# PyTorch's attention on CPUs evaluates its exponentials to 20 bits (fexp_u20), and is held to that.
TWENTY_BITS = Precision("20 bits", 2.0**-20, FLOAT32.smallest, FLOAT32.largest)
DECLARED = {("attention_forward", PYTORCH): TWENTY_BITS, ("attention_backward", PYTORCH): TWENTY_BITS}

OWN_DRAWS = {(operation, PYTORCH) for operation in ("dropout", "dropout_backward")}  # of a mask that no other can draw


class Agreement:
    """Whether backends compute a case as the reference does; each is asked once."""

    def __init__(self, backends: Backends) -> None:
        self._backends = backends
        self._found: dict[str, dict[str, list[str]]] = {}

    def disagreements(self, case: Case) -> dict[str, list[str]]:
        """Return what each other backend that has the operation gets wrong of it, output by output."""
        if case.id not in self._found:
            named = ((case.operation, name) for name in self._backends.of(case.operation) if name != REFERENCE)
            others = [name for operation, name in named if (operation, name) not in OWN_DRAWS]
            self._found[case.id] = {name: self._wrong(shortened(case), name) for name in others}
        return self._found[case.id]

    def _wrong(self, case: Case, backend: str) -> list[str]:
        precision = DECLARED.get((case.operation, backend), FLOAT32)
        repeats = backend == PYTORCH and case.operation in RECURRENT_BACKWARD  # it takes no forward pass of others
        carried_out = with_forward(case.operation) if repeats else None
        return wrong(case, self._backends.call(backend, case)(), precision, carried_out)


def shortened(case: Case) -> Case:
    """Return the case with the first few arrays of each list."""
    short = {name: value[:FIRST] if isinstance(value, list) else value for name, value in case.arguments.items()}
    if "weight_decays" in short:
        short["weight_decays"] = short["weight_decays"][:FIRST]
    return case._replace(arguments=short)


def wrong(
    case: Case, results: Any, precision: Precision = FLOAT32, carried_out: Callable[..., Any] | None = None
) -> list[str]:
    """Return a line for each output beyond its limit; PyTorch's attention keeps its last output, lse, to itself.

    carried_out: how a backend carries out the operation, if not as the reference does.
    """
    given = {name: _widened(value) for name, value in case.arguments.items()}
    with using(precision):
        expected = expect(case.operation, given, carried_out)
    names = [parameter.name for parameter in operations.written_arrays(operations.OPERATIONS[case.operation])]
    named = dict(zip(names, results if isinstance(results, tuple) else (results,), strict=False))
    verdicts = [
        judge(name, expected[name], _widened(np.asarray(array)).reshape(expected[name].shape))
        for name, array in operations.flat(named).items()
    ]
    return _failed(verdicts)


def _widened(value: Any) -> Any:
    if isinstance(value, list):
        return [*map(_widened, value)]
    return operations.widened(value) if isinstance(value, np.ndarray) else value


def _failed(verdicts: list[Verdict]) -> list[str]:
    """Every element within its own limit is enough here; what averages tell beyond that is the judge's to ask."""
    return [f"{verdict.output}: {verdict.reason}" for verdict in verdicts if verdict.wrong]


def wrong_in_a_step(backends: Backends, name: str, sizes: Sizes) -> list[str]:
    """Return a line for each gradient, or the loss, that a backend gets wrong over a step's first tokens."""
    part = slice(1), slice(SOME)
    tokens, targets = (array[part] for array in batch(sizes))
    parameters = initial_state(sizes).parameters
    if name == PYTORCH:
        peer, peer_tokens, peer_targets = backends.peer(sizes)
        loss = peer.loss(peer_tokens[part], peer_targets[part])
        loss.backward()
        total, gradients = loss.detach().numpy().reshape(1), peer.gradients()
    else:
        losses, gradients, _ = accumulate(backends.operations(name), sizes.config, parameters, tokens, targets)
        total = losses.total
    noisy: dict[str, Any] = {name: exact(array, worst=False) for name, array in parameters.items()}
    expected, wanted, _ = accumulate(Stored(), sizes.config, noisy, tokens, targets)
    if gradients.keys() != wanted.keys():
        return [f"gradients: expected those of {sorted(wanted)}, got {sorted(gradients)}"]
    verdicts = [judge("loss", expected.total, total)]
    verdicts += [judge(name, wanted[name], got) for name, got in gradients.items()]
    return _failed(verdicts)
