"""Cases by design: an operation's space of inputs as data, and a covering array of it.

In: the header, and what a family's file states.  Out: rows of levels, and what they cover; `cases` calls them.
Used by: the catalogue's cases, the report, the command `design`.
"""
