"""Makes goldens anew with whatever reference is imported, and names the first one that changes.

    python -m conformance.proof.mutants.replay ID...

Exit code: 0 none has changed; 1 one has, its name and what is new of it on a line; others: it could not be made.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from conformance.catalogue.goldens import FOLDER
from conformance.catalogue.goldens.compare import compare
from conformance.catalogue.goldens.load import verify
from conformance.catalogue.goldens.manifest import read
from conformance.catalogue.goldens.names import COMMITTED
from conformance.catalogue.goldens.profiles import sources
from conformance.catalogue.goldens.sources import CaseSource
from conformance.exit_codes import FAILED, PASSED


def main(ids: Sequence[str]) -> int:
    """Compare goldens of these names.  Oracles are not asked: they agree with what is committed."""
    known, made = read(FOLDER).cases, sources(COMMITTED)
    for id in ids:
        source = made[id]
        held, _ = (replace(source, asks_oracle=False) if isinstance(source, CaseSource) else source).make()
        for change in compare(id, verify(FOLDER, known[id]), held):
            print(f"{id}: {change.kind}: {change.what}")
            return FAILED
    return PASSED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
