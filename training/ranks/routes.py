"""Rows of tokens on their way to the ranks that hold their experts, and home again."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.namespace import Ops, Wrapped

from .interface import Ranks


class Route:
    """The way of one micro-batch's rows through one layer.

    At home rows lie by expert. Their owners lay them out by expert too, and those of one expert by rank: as in one
    process that has read the batches of all ranks.
    """

    def __init__(self, ranks: Ranks, counts: Array) -> None:
        """counts: of this rank's rows, how many each expert of the model gets, [experts]."""
        self._ranks = ranks
        by_rank = np.array(ranks.gather(counts.tolist())).reshape(ranks.size, ranks.size, -1)
        mine = by_rank[:, ranks.rank]  # rows of each rank for each expert of this one
        self._given = np.cumsum(by_rank[ranks.rank].sum(axis=1))[:-1]  # where the parts of the other ranks begin
        self._taken = np.cumsum(mine.sum(axis=1))[:-1]
        experts = np.tile(np.arange(mine.shape[1]), ranks.size)
        self._order = np.argsort(np.repeat(experts, mine.reshape(-1)), kind="stable")
        ends = np.cumsum(mine.sum(axis=0))
        # No operation takes zero rows: where no token comes, the last expert has one row of zeros.
        self._idle = ends[-1] == 0
        ends[-1] += self._idle
        self.offsets = np.concatenate([[0], ends]).astype(np.int32)
        self.home: Array | None = None  # the experts' output, once it has come home

    def outward(self, rows: Array) -> Array:
        """The rows that this rank's experts get, from all ranks."""
        came = np.concatenate(self._ranks.trade(np.split(rows, self._given)))
        return np.zeros((1, *rows.shape[1:]), rows.dtype) if self._idle else came[self._order]

    def homeward(self, rows: Array) -> Array:
        """The other way round."""
        sent = np.empty_like(rows[: len(self._order)])
        sent[self._order] = rows[: len(self._order)]
        return np.concatenate(self._ranks.trade(np.split(sent, self._taken)))


class Routed(Wrapped):
    """A namespace of operations on which a mixture of experts runs over all ranks, each of which holds its own.

    Between dispatch and combine the model's rows are those of this rank's experts. An operation finds its route by the
    array of positions that expert_sort made, and the route ends with that array.
    """

    def __init__(self, ops: Ops, ranks: Ranks) -> None:
        super().__init__(ops)
        self._ranks = ranks
        self._routes: dict[int, tuple[weakref.ref[Any], Route]] = {}

    def expert_sort(self, indices: Array, n_experts: int) -> tuple[Array, Array]:
        """(offsets of this rank's experts in the rows of all ranks, position in its own)."""
        offsets, position = self._ops.expert_sort(indices, n_experts=n_experts)
        place, route = id(position), Route(self._ranks, np.diff(offsets))
        self._routes[place] = weakref.ref(position, lambda _: self._routes.pop(place)), route
        return route.offsets, position

    def expert_dispatch(self, input: Array, position: Array) -> Array:
        """The rows for this rank's experts."""
        return self._route(position).outward(self._ops.expert_dispatch(input, position))

    def expert_dispatch_backward(self, d_output: Array, position: Array) -> Array:
        """The gradient of this rank's tokens."""
        home = self._route(position).homeward(d_output)
        d_input: Array = self._ops.expert_dispatch_backward(home, position)
        return d_input

    def expert_combine(self, input: Array, weights: Array, position: Array) -> Array:
        """This rank's tokens, of what all experts made of them."""
        route = self._route(position)
        route.home = route.homeward(input)
        output: Array = self._ops.expert_combine(route.home, weights, position)
        return output

    def expert_combine_backward(
        self, input: Array, weights: Array, position: Array, d_output: Array
    ) -> tuple[Array, Array]:
        """(gradient of the rows of this rank's experts, of this rank's weights)."""
        route = self._route(position)
        d_rows, d_weights = self._ops.expert_combine_backward(route.home, weights, position, d_output)
        return route.outward(d_rows), d_weights

    def _route(self, position: Array) -> Route:
        return self._routes[id(position)][1]
