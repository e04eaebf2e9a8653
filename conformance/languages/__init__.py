"""Ports in other languages, of examples/: built, judged beside the project's own builds, in one table."""
