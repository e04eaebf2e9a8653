"""Ports in other languages: built, judged beside the project's own builds, in one table.

In: folders of examples/, the compilers on the path, paths of libraries.  Out: what each port has right, and the first
thing that is wrong.  Used by: the command `languages`.
"""
