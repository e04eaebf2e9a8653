"""What surrounds a training step: the text it learns from, cut into tokens and batches."""
