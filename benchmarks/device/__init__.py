"""What operations cost where the library computes: `python -m benchmarks.device --library PATH`."""
