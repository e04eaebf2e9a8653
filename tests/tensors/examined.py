"""What is wrong with a tape, by name: small expressions in whole numbers, whose gradients are known exactly.

    python -m tests.tensors.examined

examines the package `tensors` that is found first, and prints a line for each thing that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tensors import TapeError, Tensor, TensorError
from tensors.tape import Variable

Found = tuple[Any, Any]  # what came, and what is due


def leaf(numbers: Any) -> Variable:
    return Variable(Tensor(np.array(numbers, np.float64)), requires_grad=True)


def grad(variable: Variable) -> Any:
    return None if variable.grad is None else variable.grad.numpy().tolist()


def of(*numbers: float) -> Tensor:
    return Tensor(np.array(numbers))


def product() -> Found:
    a, b = leaf([2.0]), leaf([5.0])
    (a * b).backward(of(1.0))
    return (grad(a), grad(b)), ([5], [2])


def two_paths() -> Found:
    x = leaf([1.0, 2.0])
    (x * 3.0 + x * 4.0).backward(of(1.0, 10.0))
    return grad(x), [7, 70]


def two_backwards() -> Found:
    x = leaf([1.0])
    (x * 3.0).backward(of(1.0))
    (x * 4.0).backward(of(1.0))
    return grad(x), [7]


def paths_of_two_leaves() -> Found:
    """A sum hands the same gradient to both of its inputs; one of them has another one besides."""
    a, b = leaf([1.0]), leaf([1.0])
    (a * 6.0 + (a + b)).backward(of(1.0))
    return (grad(a), grad(b)), ([7], [1])


def own_memory() -> Found:
    a, b, seed = leaf([1.0]), leaf([2.0]), of(1.0)
    (a + b).backward(seed)
    assert a.grad is not None
    a.grad[...] = 9.0
    return (grad(b), seed.numpy().tolist()), ([1], [1])


def memory_of_a_result() -> Found:
    """A gradient that an operation gave is two leaves', and a view of it another one's."""
    a, b, c = leaf([1.0]), leaf([2.0]), leaf([[3.0]])
    ((a + b + c[0]) * 3.0).backward(of(1.0))
    assert a.grad is not None
    a.grad[...] = 9.0
    assert b.grad is not None
    b.grad[...] = 8.0
    return (grad(a), grad(c)), ([9], [[3]])


def overlapping_views() -> Found:
    x = leaf([1.0, 2.0, 3.0])
    (x[:2] * 3.0 + x[1:] * 4.0 + x[::-2] * 5.0).backward(of(1.0, 10.0))
    return grad(x), [53, 34, 45]


def part_of_a_leaf() -> Found:
    """The sum hands its gradient to both leaves; a slice of one has another one besides, which comes behind it."""
    a, b = leaf([1.0, 2.0]), leaf([1.0, 2.0])
    part = a[:1] * 6.0
    ((a + b).sum() + part).backward(of(1.0))
    (a + b).backward(seed := of(1.0, 1.0))
    return (grad(a), grad(b), seed.numpy().tolist()), ([8, 2], [2, 2], [1, 1])


def axis_of_a_sum() -> Found:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    x.sum(1).backward(of(1.0, 10.0))
    return grad(x), [[1, 1], [10, 10]]


def broadcast() -> Found:
    a, b = leaf([[1.0], [2.0]]), leaf([1.0, 2.0, 3.0])
    (a + b).sum().backward()
    return (grad(a), grad(b)), ([[3], [3]], [2, 2, 2])


def product_of_matrices() -> Found:
    a, b = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([[5.0, 6.0], [7.0, 8.0]])
    (a @ b).backward(Tensor(np.array([[1.0, 0.0], [0.0, 0.0]])))
    return (grad(a), grad(b)), ([[5, 7], [0, 0]], [[1, 0], [2, 0]])


def views() -> Found:
    array = np.zeros((2, 3))
    x = Tensor(array)
    x.reshape(6)[0], x.T[2, 1], x[:, 1][0] = 1.0, 2.0, 3.0
    return array.tolist(), [[1, 3, 0], [0, 0, 2]]


def copies() -> Found:
    try:
        Tensor(np.zeros((2, 3))).T.reshape(6)
    except TensorError:
        return "an error", "an error"
    return "a copy", "an error"


def overwritten() -> Found:
    x = leaf([3.0])
    y = x * x
    x.value[0] = 5.0
    try:
        y.backward(of(1.0))
    except TapeError:
        return "an error", "an error"
    return grad(x), "an error"


def used_again() -> Found:
    x = leaf([3.0])
    y = x * x
    y.backward(of(1.0))
    try:
        y.backward(of(1.0))
    except TapeError:
        return "an error", "an error"
    return grad(x), "an error"


CHECKS: dict[str, Callable[[], Found]] = {
    "a view copied in silence: what is written through it does not arrive": views,
    "a copy in silence: a reshape that no view can be": copies,
    "the gradients of a product belong to the other factor each": product,
    "an overwritten gradient: of several paths one is left": two_paths,
    "an overwritten gradient: a second backward forgets the first": two_backwards,
    "an aliased gradient: what is added to one leaf's reaches another's": paths_of_two_leaves,
    "an aliased gradient: a leaf's is the memory of another's, or of the seed": own_memory,
    "an aliased gradient: what an operation gave is the memory of two leaves'": memory_of_a_result,
    "an overwritten gradient: of two views that overlap": overlapping_views,
    "an aliased gradient: a part is added to what is another's": part_of_a_leaf,
    "the gradient of a sum is spread along another axis": axis_of_a_sum,
    "the gradient of what was broadcast is not summed": broadcast,
    "the gradients of a product of matrices": product_of_matrices,
    "what was saved is overwritten unnoticed": overwritten,
    "a graph is used again that is used up": used_again,
}


def wrong() -> Iterator[str]:
    """Yield what is wrong, the plainest first."""
    for name, check in CHECKS.items():
        try:
            came, due = check()
        except Exception as error:  # whatever a tape that is wrong runs into
            yield f"{name}: {type(error).__name__}: {error}"
            continue
        if came != due:
            yield f"{name}: expected {due}, got {came}"


if __name__ == "__main__":
    print("\n".join(wrong()))
