"""What a person or a machine reads of a run: terminal, page, Markdown, JSON lines, JUnit.

In: the results of a run.  Out: text and files; nothing is judged here.
Used by: proof (its scores), commands.
"""
