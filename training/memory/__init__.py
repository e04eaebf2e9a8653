"""What a training step holds in memory: predicted from shapes, and measured."""
