"""`run`: judge candidates, report, and remember what failed.

In: the command line.  Out: the exit code, what the terminal shows and the reports.
Used by: the command line alone.
"""
