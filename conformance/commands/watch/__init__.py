"""`watch`: a candidate that is judged again as often as its file changes.

`files` says when that is, `warm` keeps what judging needs in memory, `rounds` judges once, `command` goes round.
"""
