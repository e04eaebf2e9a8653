"""One call: arguments checked, outputs allocated, arrays staged where the library computes, calls recorded as graphs.

In: a function's record and Python arguments.  Out: the call made, its results.
Used by: library.
"""
