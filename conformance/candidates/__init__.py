"""What is judged, run where it can do no harm.

In: a library's path, a module of Python or a folder of output files, and one call's arguments.
Out: what came of the call (outputs, findings, how it ended), without a judgement.
Used by: judging, steps, proof, commands.
"""
