"""The commands of `python -m conformance`, one module each: `add_parser` registers it, its `run` carries it out."""
