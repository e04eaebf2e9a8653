"""The sum of gradients over the ranks, in buckets: one goes on its way while backward makes the next."""

from __future__ import annotations

from collections.abc import Collection

from reference.arrays import Array
from reference.model.parameters import Parameters
from reference.model.transformer import Loss
from reference.step import Accumulated

from .interface import Pending, Ranks

BUCKET_BYTES = 25 * 2**20


class Reduction:
    """Sums what the ranks have accumulated for one update; each names its gradients in the same order.

    A process that is alone gets its own arrays back, so that nothing is copied and nothing waits for a device.
    """

    def __init__(self, ranks: Ranks, bucket_bytes: int = BUCKET_BYTES, own: Collection[str] = ()) -> None:
        """own: the gradients that are not summed, since each rank has its own."""
        if bucket_bytes < 1:
            raise ValueError(f"Reduction: bucket_bytes: expected at least 1, got {bucket_bytes}")
        self._ranks, self._limit = ranks, bucket_bytes
        self._own, self._known = own, set[str]()
        self._filling: Parameters = {}
        self._sent: list[tuple[list[str], Pending]] = []

    def ready(self, gradients: Parameters) -> None:
        """Take gradients that will not change any more, and send them on their way as soon as they fill a bucket."""
        if self._ranks.size == 1:
            return
        for name, array in gradients.items():
            if name in self._own:
                continue
            if name in self._known:
                raise ValueError(f"Reduction: the gradient of {name} is ready a second time")
            self._known.add(name)
            self._filling[name] = array
            if sum(held.nbytes for held in self._filling.values()) >= self._limit:
                self._send()
        for _, pending in self._sent:
            pending.test()

    def finish(self, part: Accumulated) -> Accumulated:
        """Send what was not ready before, wait for all of it, and return the sum of every rank's part."""
        if self._ranks.size == 1:
            return part
        self.ready({name: array for name, array in part.gradients.items() if name not in self._known})
        self._send()
        small = [*part.loss, *part.loads]
        sums = self._begin(small).wait()
        summed = {name: array for names, one in self._sent for name, array in zip(names, one.wait(), strict=True)}
        gradients = {name: summed.get(name, array) for name, array in part.gradients.items()}
        loss = Loss(*sums[: len(part.loss)])
        return Accumulated(loss, gradients, sums[len(part.loss) :])

    def _send(self) -> None:
        if self._filling:
            self._sent.append((list(self._filling), self._begin(list(self._filling.values()))))
        self._filling = {}

    def _begin(self, arrays: list[Array]) -> Pending:
        types = sorted({str(array.dtype) for array in arrays})
        if len(types) > 1:
            raise ValueError(f"Reduction: expected arrays of one type, got {' and '.join(types)}")
        return self._ranks.begin_sum(arrays)
