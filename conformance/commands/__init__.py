"""The commands of `python -m conformance`, one module each: `add_parser` registers it, its `run` carries it out.

In: the command line.  Out: exit codes, and what the terminal shows.
Used by: nobody; it may import every room.
"""
