"""A decoded token in PyTorch, as its users write it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from .threads import THREADS

Calls = Mapping[str, Callable[[], object]]


def samplers(logits: np.ndarray, top_k: int, top_p: float, temperature: float) -> Calls:
    """A token for each row: the largest, of all, of the k largest, of a nucleus."""
    torch.set_num_threads(THREADS)
    given = torch.from_numpy(logits)

    @torch.inference_mode()
    def of_all() -> Tensor:
        return torch.multinomial(torch.softmax(given / temperature, -1), 1)

    @torch.inference_mode()
    def of_largest() -> Tensor:
        values, columns = torch.topk(given, top_k)
        return columns.gather(-1, torch.multinomial(torch.softmax(values / temperature, -1), 1))

    @torch.inference_mode()
    def of_nucleus() -> Tensor:
        probabilities, columns = torch.softmax(given / temperature, -1).sort(-1, descending=True)
        before = probabilities.cumsum(-1) - probabilities
        return columns.gather(-1, torch.multinomial(probabilities.masked_fill(before >= top_p, 0.0), 1))

    return {
        "largest": lambda: given.argmax(-1),
        "of all": of_all,
        f"of the {top_k} largest": of_largest,
        f"of a nucleus of {top_p}": of_nucleus,
    }


def attentions(arrays: list[np.ndarray]) -> Calls:
    """Of a query for each head to all keys, in both formats; arrays as the header has them."""
    torch.set_num_threads(THREADS)
    wide = [torch.from_numpy(array).transpose(1, 2) for array in arrays]

    def of(given: list[Tensor]) -> Callable[[], Tensor]:
        @torch.inference_mode()
        def attend() -> Tensor:
            return F.scaled_dot_product_attention(*given, enable_gqa=True)

        return attend

    return {"float32": of(wide), "bf16": of([array.bfloat16() for array in wide])}
