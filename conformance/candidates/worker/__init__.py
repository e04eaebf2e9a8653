"""Runs a candidate library in a process of its own: guarded buffers, poison, a time limit, every call twice.

`worker` is the judge's handle on it, `child` what runs there, which loads only what a call needs: a process is started
for every library and after every crash.
"""
