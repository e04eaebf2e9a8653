"""`run --library LIB --map MAP`: a framework of strided tensors behind a C boundary."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from conformance.frameworks import Framework, link


def framework_rounds(options: argparse.Namespace) -> Iterator[argparse.Namespace]:
    """Yield the options of each round, one for each library: as if --library had named what stands before it.

    Raises MapError, LibraryError and BuildError.
    """
    for called, path in options.library:
        linked = link(Framework(path, options.map))
        asked = {"library": [(called or linked.project.name, linked.path)], "compiled": linked}
        yield argparse.Namespace(**vars(options) | asked)
