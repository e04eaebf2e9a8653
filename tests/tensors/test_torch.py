"""Expressions drawn at random against PyTorch in float64: what they give, and their gradients."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from tests.graph.limits import shares
from tests.tensors.drawn import MAPS, POSITIVE, REDUCTIONS, TAMED, VIEWS, ZIPS, Drawn, Step, evaluate, expressions
from tests.tensors.noise import DOUBLES, expected, results
from tests.tensors.ours import Ours

torch = pytest.importorskip("torch", reason="PyTorch, the independent library, is not installed")
F = torch.nn.functional

EXPRESSIONS = 2000


class Theirs:
    """Steps by PyTorch's functions."""

    @staticmethod
    def map(step: Step, x: Any) -> Any:
        if step.name in POSITIVE:
            x = x * x + 0.5
        if step.name in TAMED:
            x = torch.sin(x)
        own = {
            "identity": torch.clone,
            "absolute": torch.abs,
            "silu": F.silu,
            "softplus": F.softplus,
            "gelu": F.gelu,
            "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
        }
        return own[step.name](x) if step.name in own else getattr(torch, step.name)(x)

    @staticmethod
    def zip(step: Step, a: Any, b: Any) -> Any:
        if step.name == "divide":
            b = b * b + 0.5
        if step.name == "power":
            a, b = torch.sin(a) + 1.5, torch.tanh(b)
        own = {"power": torch.pow, "divide": torch.div, "add": torch.add, "subtract": torch.sub}
        return own.get(step.name, getattr(torch, step.name, None))(a, b)

    @staticmethod
    def number(step: Step, x: Any) -> Any:
        if step.name == "rdiv":
            return step.told / (torch.sigmoid(x) + 0.5)
        return {"add": x + step.told, "multiply": x * step.told, "rsub": step.told - x}[step.name]

    @staticmethod
    def reduce(step: Step, x: Any) -> Any:
        axes, keepdims = step.told
        if step.name == "product":
            for axis in sorted(axes, reverse=True):
                x = torch.prod(x, axis, keepdim=keepdims)
            return x
        names = {"sum": torch.sum, "mean": torch.mean, "maximum": torch.amax, "minimum": torch.amin}
        return names[step.name](x, axes, keepdim=keepdims)

    @staticmethod
    def matmul(step: Step, a: Any, b: Any) -> Any:
        return a @ b

    @staticmethod
    def concat(step: Step, a: Any, b: Any) -> Any:
        return torch.cat([a, b])

    @staticmethod
    def view(step: Step, x: Any) -> Any:
        if step.name == "slice":
            for axis in reversed(range(x.ndim)):
                x = _sliced(x, axis, step.told[axis])
            return x
        views = {
            "permute": torch.permute,
            "flip": torch.flip,
            "reshape": torch.reshape,
            "expand_dims": torch.unsqueeze,
            "squeeze": torch.squeeze,
            "broadcast": torch.broadcast_to,
        }
        return views[step.name](x, step.told)


def _sliced(x: Any, axis: int, key: Any) -> Any:
    """One axis by one index; PyTorch has no steps below 0, so the places are listed."""
    places = range(x.shape[axis])[key]
    if isinstance(places, int):
        return torch.select(x, axis, places)
    return torch.index_select(x, axis, torch.tensor([*places]))


def theirs(drawn: Drawn) -> dict[str, Any]:
    leaves = [torch.tensor(array, requires_grad=True) for array in drawn.arrays]
    result = evaluate(leaves, drawn.steps, Theirs)
    if not result.requires_grad:
        raise AssertionError("the result is of no leaf")
    result.backward(torch.tensor(drawn.seed))
    found = {"result": result.detach().numpy()}
    return found | {f"d {n}": leaf.grad.numpy() for n, leaf in enumerate(leaves) if leaf.grad is not None}


@pytest.mark.slow
def test_two_thousand_expressions_drawn_at_random() -> None:
    met, kinks, largest, steps, kinds = 0, 0, 0.0, Counter[str](), Counter[str]()

    @settings(max_examples=EXPRESSIONS, derandomize=True, database=None, suppress_health_check=[*HealthCheck])
    @given(expressions())
    def agree(drawn: Drawn) -> None:
        nonlocal met, kinks, largest
        ours = Ours()

        def f(*leaves: Any) -> Any:
            return evaluate(leaves, drawn.steps, ours)

        noise = expected(f, drawn.arrays, drawn.seed)
        kinks += ours.near
        assume(not ours.near)
        of_ours = shares(noise, results(f, drawn.arrays, drawn.seed, DOUBLES), both_err=False)
        of_theirs = shares(noise, theirs(drawn), both_err=True)
        assert max(of_ours.values(), default=0) <= 1, (of_ours, drawn.steps)
        assert max(of_theirs.values(), default=0) <= 1, (of_theirs, drawn.steps)
        met, largest = met + 1, max(largest, *of_ours.values(), *of_theirs.values())
        kinds.update({step.kind for step in drawn.steps})
        steps.update(f"{step.kind} {step.name}" for step in drawn.steps)

    agree()
    print(f"{met} expressions, {steps.total()} steps; {kinks} more left out next to a kink")
    print(f"largest error: {largest:.3f} of its limit")
    assert met >= EXPRESSIONS
    assert min(kinds[kind] for kind in ("map", "zip", "reduce", "matmul", "view", "concat")) >= EXPRESSIONS // 10, kinds
    named = {
        "map": MAPS,
        "zip": ZIPS,
        "reduce": REDUCTIONS,
        "view": VIEWS,
        "matmul": ("matmul",),
        "concat": ("concat",),
    }
    assert {f"{kind} {name}" for kind, names in named.items() for name in names} <= {*steps}
