"""Ports in other languages, of examples/: built, judged beside the reference and this project's builds, in one table."""
