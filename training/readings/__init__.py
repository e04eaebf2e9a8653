"""Plausible wrong ways to build what surrounds a training step; each is a step of its own."""
