"""What surrounds a training step: its text, precision, memory, ranks and checkpoints, and the command that trains."""
