"""Before anything is timed: what is compared computes the same, by the judge's own limits."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import reference
from conformance import operations
from conformance.judging.verdict import judge
from conformance.limits.expectation import expect
from conformance.limits.noise import FLOAT32, Precision, exact, using
from reference.model.config import BENCH
from reference.step import accumulate

from .backends import Backends
from .cases import Case, batch, initial_state, of_a_step

SOME = 32  # tokens of the step: as many as show every expert at work
FIRST = 4  # of a list of arrays: all of them cost more than they tell
# PyTorch's attention on CPUs evaluates its exponentials to 20 bits (fexp_u20), and is held to that.
TWENTY_BITS = Precision("20 bits", 2.0**-20, FLOAT32.smallest, FLOAT32.largest)
DECLARED = {("attention_forward", "PyTorch"): TWENTY_BITS, ("attention_backward", "PyTorch"): TWENTY_BITS}


@lru_cache(maxsize=1)
def expected(id: str, precision: Precision) -> tuple[Case, dict[str, Any]]:
    given = of_a_step()[id].arguments
    short = {name: value[:FIRST] if isinstance(value, list) else value for name, value in given.items()}
    if "weight_decays" in short:
        short["weight_decays"] = short["weight_decays"][:FIRST]
    case = of_a_step()[id]._replace(arguments=short)
    with using(precision):
        return case, expect(case.operation, case.arguments)


@pytest.mark.parametrize("backend", ["C", "PyTorch"])
@pytest.mark.parametrize("id", of_a_step())
def test_operation(id: str, backend: str, backends: Backends) -> None:
    operation = of_a_step()[id].operation
    case, wanted = expected(id, DECLARED.get((operation, backend), FLOAT32))
    call = backends.call(backend, case)
    if call is None:
        return
    for name, array in outputs(operation, call()).items():
        noise = wanted[name]
        verdict = judge(name, noise, np.asarray(array).reshape(noise.shape))
        assert verdict.passed, f"{name}: {verdict.reason}"


def outputs(operation: str, results: Any) -> dict[str, Any]:
    """What a call gave, by the header's names; PyTorch's attention keeps its last output, lse, to itself."""
    names = [parameter.name for parameter in operations.written_arrays(operations.OPERATIONS[operation])]
    return operations.flat(dict(zip(names, results if isinstance(results, tuple) else (results,), strict=False)))


def test_training_step_of_pytorch(backends: Backends) -> None:
    peer, tokens, targets = backends.peer()
    rows, positions = slice(1), slice(SOME)
    loss = peer.loss(tokens[rows, positions], targets[rows, positions])
    loss.backward()
    known: dict[str, Any] = {name: exact(a, worst=False) for name, a in initial_state().parameters.items()}
    wanted, gradients, _ = accumulate(reference, BENCH, known, *(array[rows, positions] for array in batch()))
    verdicts = [judge("loss", wanted.total, loss.detach().numpy().reshape(1))]
    verdicts += [judge(name, gradients[name], got) for name, got in peer.gradients().items()]
    assert [f"{verdict.output}: {verdict.reason}" for verdict in verdicts if not verdict.passed] == []
    assert len(verdicts) == 1 + len(gradients)
