"""`graph`: write a graph for an engine, or judge an engine record by record.

`tasks` says what is judged, `judged` runs and judges engines, `command` reads the command line and reports.
"""
