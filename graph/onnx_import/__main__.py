"""`python -m graph.onnx_import`: the operators that are imported, and what of each is not; `--rest` adds all others."""

from __future__ import annotations

import argparse

from .listing import imported, not_imported


def main() -> None:
    """Print the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rest", action="store_true", help="name all operators of ONNX that are not imported")
    options = parser.parse_args()
    print("\n".join(imported()))
    if options.rest:
        print(f"not imported: {', '.join(not_imported())}")


if __name__ == "__main__":
    main()
