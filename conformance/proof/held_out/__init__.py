"""Faults that only held-out cases find, and whether the hunt finds them: what a tenth of the design is worth of it."""
