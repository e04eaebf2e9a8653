"""Wrong readings made mechanically of what goes wrong in kernels: parts not computed, short formats, cut sums."""
