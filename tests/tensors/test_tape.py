"""The tape: what is recorded, accumulated, freed and refused."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

import reference
from bindings import Library
from tensors import TapeError, Tensor, TensorError
from tensors.changes import Change
from tensors.indexing import indexed
from tensors.tape import Context, Function, Gradients, Part, Variable, apply, concat, no_grad
from tensors.tape.parts import Gathered, Places


def leaf(*numbers: float) -> Variable:
    return Variable(Tensor(np.array(numbers)), requires_grad=True)


def grad(variable: Variable) -> Any:
    assert variable.grad is not None
    return variable.grad.numpy().tolist()


def test_gradients_of_all_paths_are_added() -> None:
    x = leaf(2.0, 3.0)
    y = x * x
    (y + y * x + x).sum().backward()
    assert grad(x) == [2 * 2 + 3 * 4 + 1, 2 * 3 + 3 * 9 + 1]


def test_backwards_accumulate_until_they_are_forgotten() -> None:
    x = leaf(2.0)
    (x * 3).backward(Tensor(np.array([1.0])))
    (x * 4).sum().backward()
    assert grad(x) == [7]
    x.zero_grad()
    assert x.grad is None


def test_gradients_share_memory_with_nothing() -> None:
    a, b, seed = leaf(1.0, 2.0), leaf(3.0, 4.0), Tensor(np.array([1.0, 1.0]))
    (a + b).backward(seed)
    assert a.grad is not None
    a.grad[...] = 9.0
    assert (grad(b), seed.numpy().tolist()) == ([1, 1], [1, 1])
    (a + b).backward(seed)
    assert (grad(a), grad(b)) == ([10, 10], [2, 2])
    a.zero_grad()
    a.sum().backward()
    assert a.grad is not None
    assert a.grad.strides == (1,)  # not the sum's own, which is one number for all


class Kept(Function):
    """Twice the input; keeps the gradients that it gives, or their memory, or a view of that."""

    kept: ClassVar[list[Any]] = []

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        context.keep = attributes["keep"]
        return inputs[0] * 2.0

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        found = gradient * 2.0
        Kept.kept.append(context.keep(found))
        return (found,)


KEPT: dict[str, Callable[[Tensor], Any]] = {
    "nothing": lambda _: None,
    "the tensor": lambda tensor: tensor,
    "its storage": lambda tensor: tensor.storage,
    "its array": lambda tensor: tensor.storage.array,
    "a view": lambda tensor: tensor[::-1],
    "an array of NumPy's": lambda tensor: tensor.numpy(),
}


@pytest.mark.parametrize("keep", KEPT)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_gradient_that_somebody_else_refers_to_is_copied(keep: str, dtype: Any, stub: Library) -> None:
    ops = stub if dtype == np.float32 else reference
    x = Variable(Tensor(np.array([1.0, 2.0], dtype), ops), requires_grad=True)
    Kept.kept.clear()
    apply(Kept, x, keep=KEPT[keep]).backward(Tensor(np.ones(2, dtype), ops))
    assert x.grad is not None
    x.grad[...] = 9.0
    (other,) = Kept.kept
    if keep == "its storage":
        assert other.array.tolist() == [2, 2]
    elif other is not None:
        assert np.array_equal(other if isinstance(other, np.ndarray) else other.numpy(), [2, 2])


def test_a_gradient_that_nobody_else_refers_to_is_taken(stub: Library) -> None:
    """What the last operation gave is the leaf's gradient, not a copy of it."""
    for ops, dtype in ((stub, np.float32), (reference, np.float64)):
        x = Variable(Tensor(np.array([[1.0, 2.0]], dtype), ops), requires_grad=True)
        made: list[int] = []

        class Noted(Function):
            @staticmethod
            def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
                return inputs[0] * 2.0

            @staticmethod
            def backward(context: Context, gradient: Tensor) -> Gradients:
                found = gradient * 2.0
                made.append(id(found.storage))  # noqa: B023 (called within the round)
                return (found.T.T,)

        apply(Noted, x).backward(Tensor(np.ones((1, 2), dtype), ops))
        assert x.grad is not None
        assert [id(x.grad.storage)] == made


def test_what_is_a_leaf_itself_has_its_seed() -> None:
    x, seed = leaf(1.0), Tensor(np.array([5.0]))
    x.backward(seed)
    seed[...] = 0.0
    assert grad(x) == [5]


def test_constants_and_no_grad_record_nothing() -> None:
    x = leaf(1.0)
    with no_grad():
        inside = x * 2
    assert not inside.requires_grad
    assert not x.detach().requires_grad
    assert not (x < 2).requires_grad
    assert (x * 2).requires_grad
    with pytest.raises(TapeError, match="got a constant"):
        inside.backward()


def test_a_graph_is_used_once_unless_it_is_retained() -> None:
    x = leaf(3.0)
    y = x * x
    z = y.sum()
    z.backward(retain_graph=True)
    z.backward()
    assert grad(x) == [12]
    with pytest.raises(TapeError, match="got one freed at Reduce: retain_graph"):
        z.backward()
    with pytest.raises(TapeError, match="got one freed at Zip"):
        (y * x + x).sum().backward()
    assert grad(x) == [12], "leaves change at the end, all or none"


def test_what_was_saved_is_freed_as_backward_goes() -> None:
    alive: list[int] = []
    saved: list[weakref.ref[Any]] = []

    class Watched(Function):
        @staticmethod
        def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
            kept = inputs[0].copy()
            saved.append(weakref.ref(kept.storage.array))
            context.save(kept)
            return inputs[0].copy()

        @staticmethod
        def backward(context: Context, gradient: Tensor) -> Gradients:
            gc.collect()
            alive.append(sum(one() is not None for one in saved))
            return (gradient,)

    x = leaf(1.0)
    y = x
    for _ in range(5):
        y = apply(Watched, y)
    y.backward(Tensor(np.array([1.0])))
    gc.collect()
    assert alive == [5, 4, 3, 2, 1]
    assert not any(one() is not None for one in saved)


def test_long_chains_need_no_recursion() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(5000):
        y = y + x
    y.sum().backward()
    assert grad(x) == [5001]


def test_a_diamond_is_walked_once_each() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(60):  # 2^60 paths
        y = (y + y) * 0.5
    y.sum().backward()
    assert grad(x) == [1]


def test_what_was_saved_and_overwritten_is_an_error() -> None:
    x = leaf(1.0, 2.0)
    y = x * x
    x.value[0] = 5.0
    with pytest.raises(TapeError, match=r"expected a saved tensor of shape \(2,\) as it was, got one written since"):
        y.sum().backward()


class Wrong(Function):
    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        context.how = attributes["how"]
        return inputs[0].copy()

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        if context.how == "writes":
            gradient[...] = 0.0
        return {"shape": (gradient[:1],), "count": (gradient, gradient), "no tuple": gradient}.get(
            context.how, (gradient,)
        )  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("shape", "Wrong.backward: gradient 0: expected shape (2,), got (1,)"),
        ("count", "Wrong.backward: expected a tuple of 1 gradients, got 2"),
        ("no tuple", "Wrong.backward: expected a tuple of 1 gradients, got Tensor"),
        ("writes", "Wrong.backward: expected the gradient that it is given as it was, got it written"),
    ],
)
def test_a_backward_of_ones_own_is_checked(how: str, message: str) -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(TapeError) as raised:
        apply(Wrong, x, how=how).backward(Tensor(np.ones(2)))
    assert str(raised.value) == message
    assert x.grad is None


def test_the_seed_has_the_results_shape() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(TapeError, match=r"expected a gradient of shape \(2,\), for it is no number, got none"):
        (x * 2).backward()
    with pytest.raises(TapeError, match=r"expected a gradient of shape \(2,\), got \(3,\)"):
        (x * 2).backward(Tensor(np.ones(3)))


def test_functions_without_a_gradient_are_refused_on_the_tape() -> None:
    x = leaf(1.0)
    with pytest.raises(TapeError, match="gelu_backward: expected a function with a gradient, add, subtract"):
        x.zip("gelu_backward", x)
    with no_grad():
        assert x.zip("gelu_backward", x).shape == (1,)
    with pytest.raises(TensorError, match="expected a Tensor, got ndarray"):
        Variable(np.ones(2))  # type: ignore[arg-type]


def test_zeros_in_products_and_equal_extremes() -> None:
    x = Variable(Tensor(np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 4.0], [2.0, 5.0, 1.0]])), requires_grad=True)
    x.prod(1).sum().backward()
    assert grad(x) == [[0, 6, 0], [0, 0, 0], [5, 2, 10]]
    y = leaf(1.0, 3.0, 3.0)
    y.max().backward()
    assert grad(y) == [0, 0.5, 0.5]
    z = leaf(1.0, 3.0)
    z.maximum(Tensor(np.array([1.0, 2.0]))).sum().backward()
    assert grad(z) == [0.5, 1]


def test_one_behind_the_other() -> None:
    x, y = leaf(1.0, 2.0), leaf(3.0)
    joined = concat([x, y, x])
    joined.backward(Tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0])))
    assert (grad(x), grad(y)) == ([5, 7], [3])


class Last(Function):
    """The last element; its gradient is a part of that of all."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        context.size = inputs[0].size + attributes["off"]
        return inputs[0][-1:].copy()

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        return (Part((context.size,), lambda layout: indexed(layout, slice(-1, None)), gradient),)


def test_parts_of_gradients_are_added_to_others() -> None:
    x = leaf(1.0, 2.0, 3.0)
    (apply(Last, x, off=0) * 2.0 + x.sum() + apply(Last, x, off=0)).backward(Tensor(np.array([1.0])))
    assert grad(x) == [1, 1, 4]
    with pytest.raises(TapeError, match=r"Last\.backward: gradient 0: expected shape \(3,\), got \(4,\)"):
        apply(Last, x, off=1).backward(Tensor(np.array([1.0])))
    assert grad(x) == [1, 1, 4]


def test_places_are_told_new_from_known() -> None:
    """As a set of all of them does, drawn at random; ranges that meet are one."""
    random = np.random.default_rng(0)
    for _ in range(50):
        places, known = Places(), set[int]()
        for _ in range(30):
            start, length = random.integers(0, 60), random.integers(0, 6)
            added = range(start, start + length)
            assert places.add(added) == known.isdisjoint(added)
            known.update(added)
        assert sum(map(len, map(range, places._starts, places._stops))) == len(known)
        assert all(stop < start for stop, start in zip(places._stops, places._starts[1:], strict=False))


def test_parts_one_behind_the_other_are_one_range() -> None:
    """Neither a search nor what is kept grows with the number of rows that were taken."""
    gathered = Gathered(None, Part((400, 2), Change(indexed, 0), Tensor(np.ones(2))))
    for row in range(1, 400):
        gathered.add(Part((400, 2), Change(indexed, row), Tensor(np.ones(2))))
    assert gathered._written._stops == [800]
    assert gathered.total.numpy().tolist() == [[1.0, 1.0]] * 400
