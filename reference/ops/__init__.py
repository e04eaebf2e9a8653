"""The operations of cuda/include/assayer.h in NumPy: one file per family, every backward right below its forward."""
