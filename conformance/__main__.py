"""python -m conformance: judge a library, list the cases, keep the goldens."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
