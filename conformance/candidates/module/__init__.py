"""Python modules as candidates: their functions are called in a worker's process as a library's are.

`source` names a module, `opened` loads it there, `call` is one operation of it and `step` a whole training step, which
is told its `settings`; arrays cross as NumPy's or by DLPack.
"""
