"""The header read: C declarations become records of functions, parameters, shapes and conditions.

In: the text of assayer.h.  Out: Header, Function, Parameter, Signature.
Used by: every other room of the bindings.
"""
