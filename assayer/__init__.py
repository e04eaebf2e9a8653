"""Assayer as one installed package: what a checkout holds side by side lies below this folder.

`reference`, `bindings`, `training` and `conformance` of a checkout are `assayer.reference`, `assayer.bindings` and so
on where a wheel is installed (hatch_build.py lays them out), so that none of these names is taken from anybody:

    from assayer.bindings import Library
"""
