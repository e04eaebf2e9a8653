"""One call becomes a result: its outputs held against the expectation, and what a failure looks like.

In: a case, what a candidate made of it, the limits.
Out: a Result with a status, verdicts of its outputs, a diagnosis and evidence for pictures.
Used by: steps, report, proof, commands.
"""
