"""What a person or a machine reads of a run: terminal, JSON lines, JUnit."""
