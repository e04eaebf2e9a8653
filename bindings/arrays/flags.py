"""What NumPy says of an array's memory, said of a DeviceArray's."""

from __future__ import annotations

_READABLE, _WRITABLE = 0x0101, 0x0501  # bits of ndarray.flags.num: dense and aligned; the same and writable


class Flags:
    """What ndarray.flags says of an array, of one that is always dense."""

    c_contiguous = True

    def __init__(self, aligned: bool, writeable: bool) -> None:
        self.aligned, self.writeable = aligned, writeable
        self.num = (_WRITABLE if writeable else _READABLE) if aligned else 0


FLAGS = {(aligned, writeable): Flags(aligned, writeable) for aligned in (False, True) for writeable in (False, True)}
