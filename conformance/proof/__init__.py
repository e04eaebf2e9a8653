"""Whether the judge would notice: planted readings and faults must be found, honest implementations must pass.

In: the catalogue, the variants, the sources of the C library and the kernels.
Out: scores, and the mistakes that no case finds.
Used by: commands alone.
"""
