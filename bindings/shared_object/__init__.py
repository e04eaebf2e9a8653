"""The library loaded: its symbols, the functions behind them, what it says of itself, its streams.

In: a path and the header's records.  Out: C functions by symbol, facts, streams.
Used by: arrays, calls, library.
"""
