"""Cases as ONNX node tests, and ONNX's node tests as cases.

In: goldens, operations, the package `onnx` where it is installed.  Out: a folder of models with inputs, outputs and
limits; what ONNX's own cases say of the reference and of a library.  Used by: commands.
"""
