"""What is asked of a candidate: cases of every operation, kept answers (goldens), second opinions (oracles).

In: the header's operations and the reference.
Out: cases by id with their arguments, goldens by id, facts of the operations that no declaration tells.
Used by: every room below `limits`.
"""
