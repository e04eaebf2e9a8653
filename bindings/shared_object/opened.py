"""A library that is open, and known to be one of this header and able to compute here."""

from __future__ import annotations

from pathlib import Path

from bindings.errors import LibraryError, NoDevice
from bindings.header.records import Header

from .facts import Facts
from .foreign import SharedObject
from .services import Services


class Opened:
    """`object` gives its entries, `services` are its assayer_* calls, `facts` what it says of itself.

    Raises LibraryError, saying what the file is, when it cannot be opened or was built from another version of the
    header, and NoDevice when it computes on a device and there is none.
    """

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self.object = SharedObject(path)
        self.services = Services(self.object, header)
        self._refuse_others(header)
        self.facts = Facts.of(self.services)
        if self.facts.on_device and self.facts.devices == 0:
            raise NoDevice(f"{path}: expected a device that it can compute on, found none")

    def _refuse_others(self, header: Header) -> None:
        """Calls would go wrong in a library of other declarations."""
        version = self.services.version() if self.services.has("version") else header.version
        if version != header.version:
            expected = f"version {header.version} of the header"
            raise LibraryError(f"{self.path}: expected a library built from {expected}, got one of version {version}")
