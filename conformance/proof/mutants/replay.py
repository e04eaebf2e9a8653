"""Makes goldens anew with whatever reference is imported, and names the first one that changes.

    python -m conformance.proof.mutants.replay ID...

Exit code: 0 none has changed; 1 one has, its name and what is new of it on a line; others: it could not be made.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from conformance.catalogue.goldens import FOLDER, profiles
from conformance.catalogue.goldens.compare import compare
from conformance.catalogue.goldens.load import verify
from conformance.catalogue.goldens.manifest import read
from conformance.catalogue.goldens.names import COMMITTED
from conformance.catalogue.goldens.sources import CaseSource
from conformance.exit_codes import FAILED, PASSED


def goldens() -> list[str]:
    """Return the ids of those of operations; whole steps and runs take minutes."""
    return [id for id in read(FOLDER).cases if isinstance(profiles.sources(COMMITTED)[id], CaseSource)]


def change(id: str) -> str:
    """Return what is new of a golden, or nothing.  Oracles are not asked: they agree with what is committed."""
    source = profiles.sources(COMMITTED)[id]
    held, _ = (replace(source, asks_oracle=False) if isinstance(source, CaseSource) else source).make()
    changes = compare(id, verify(FOLDER, read(FOLDER).cases[id]), held)
    return next((f"{change.kind}: {change.what}" for change in changes), "")


def main(ids: Sequence[str]) -> int:
    """Compare goldens of these names."""
    for id in ids:
        if said := change(id):
            print(f"{id}: {said}")
            return FAILED
    return PASSED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
