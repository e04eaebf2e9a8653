"""How far two evaluations of a graph may be apart: the judge's noise, propagated through the graph, in one precision.

The reference runs on noise numbers, so that every value and gradient has the standard deviation and the bound of what
an honest evaluation errs by. Of two evaluations in float64 both err: the variance of their difference is twice that of
one, and its bound twice the bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import graph
from conformance.limits.measure import limits
from conformance.limits.namespaces import OnNumbers
from conformance.limits.noise import FLOAT32, Noisy, exact, using
from conformance.limits.noise.precision import Precision
from reference.namespace import Ops

FLOAT64 = Precision("float64", 2.0**-53, float(np.finfo(np.float64).tiny), float(np.finfo(np.float64).max))


class OnDoubles(OnNumbers):
    """The reference on noise numbers, with numbers as they are: float32 rounds none of them."""

    def _converted(self, value: Any) -> Any:
        return self._convert(value) if isinstance(value, float) else value


def noisy(checked: graph.Checked, arrays: dict[str, Any], seed: int, precision: Precision) -> dict[str, Any]:
    """Every value, "d " gradient and running statistic, "new ", of a pass as noise numbers."""
    ops: Ops = (OnNumbers if precision is FLOAT32 else OnDoubles)(exact)
    with using(precision), np.errstate(all="ignore"):
        given = {n: exact(a) if a.dtype.kind == "f" else a for n, a in arrays.items()}
        return results(graph.Run(checked, ops), given, seed)


def results(run: graph.Run, arrays: dict[str, Any], seed: int) -> dict[str, Any]:
    """The same of a pass on any arrays."""
    forward = run.forward(arrays, seed=seed)
    backward = run.backward(forward)
    found = {name: forward.values[name] for name in (r.output for r in run.checked.graph.records)}
    found |= {f"new {name}": array for name, array in forward.state.items()}
    gradients = backward.values | {n: g for n, g in backward.parameters.items() if g is not None}
    return found | {f"d {name}": array for name, array in gradients.items()}


def shares(expected: dict[str, Any], got: dict[str, Any], both_err: bool) -> dict[str, float]:
    """The largest error of each array as a share of its limit; both_err: the expected values are rounded as well."""
    assert expected.keys() == got.keys(), expected.keys() ^ got.keys()
    found = {}
    for name, noise in expected.items():
        values = np.asarray(got[name])
        assert values.shape == noise.shape, f"{name}: shape {values.shape}, not {noise.shape}"
        if not isinstance(noise, Noisy):
            found[name] = 0.0 if np.array_equal(values, noise) else np.inf
            continue
        found[name] = _share(noise, values.astype(np.float64), both_err)
    return found


def _share(noise: Noisy, values: Any, both_err: bool) -> float:
    if both_err:
        doubled = {"variance": 2 * noise.variance, "shared": 2 * noise.shared}
        noise = noise.replaced(**doubled, worst=None if noise.worst is None else 2 * noise.worst)
    limit, _ = limits(noise)
    error = np.abs(values - noise.v)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(error == 0, 0.0, error / limit)
    share = np.where(np.isfinite(noise.variance), share, 0.0)
    return float(np.max(np.where(np.isnan(share), np.inf, share), initial=0.0))
