"""Calls whose arguments lie on the stack in the order of the declaration, so that a swap is no luck of the registers.

On x86-64 and ARM64 whole numbers and addresses travel in one row of registers and floats in another: a function that
takes (float eps, int rows) for (int rows, float eps) compiles to the same code, and no call of it can tell.  On 32-bit
x86 every argument lies on the stack in its place.  In: a candidate built for that machine, the goldens.  Out: what each
operation does there, and which two arguments it takes for each other, or which by address.  Used by: the command
`positional`, the ports in other languages.
"""
