"""Record lists as candidates: an engine runs a graph, and every record is judged locked and free, like a training step.

In: what an engine handed in for a task, in files or from a worker.  Out: a Result for every value, loss, gradient and
updated parameter, and what the first wrong one looks like.
Used by: report, proof, commands.
"""
