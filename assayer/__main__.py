"""The command `assayer`, and `python -m assayer`: those of `python -m conformance`."""

import sys

from conformance.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
