"""The hunt: calls drawn at random beyond the catalogue, and the smallest that fails.

In: a library's bench, an operation's space of inputs.  Out: failing calls, shrunk.
Used by: the command `hunt`.
"""
