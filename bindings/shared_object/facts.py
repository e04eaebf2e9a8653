"""What a library says of itself."""

from __future__ import annotations

from dataclasses import dataclass

from .services import Services


@dataclass(frozen=True)
class Facts:
    """The capabilities that callers must know of; a library without the service computes on the host."""

    on_device: bool = False  # whether arrays lie in device memory
    devices: int | None = None  # how many it can compute on, None where it does not say
    compute_capability: int = 0  # 80 for sm_80, 0 on a host
    emulated: bool = False  # whether the device is the host's processor

    @classmethod
    def of(cls, services: Services) -> Facts:
        """Ask the library."""
        if not services.has("capability"):
            return cls()
        on_device, devices = bool(services.fact("device_memory")), services.fact("devices")
        emulated = bool(services.fact("emulated")) or services.holds_emulator
        return cls(on_device, devices, services.fact("compute_capability") or 0, emulated)

    @property
    def is_device_build(self) -> bool:
        """Whether kernels compute: what they find in an array cannot be looked at before the call returns."""
        return self.on_device or self.compute_capability > 0

    @property
    def described(self) -> str:
        """What it computes on, in a few words; nothing for a host."""
        if not self.is_device_build:
            return ""
        device = f"device (sm_{self.compute_capability})" if self.compute_capability else "device"
        return f"an emulated {device}" if self.emulated else f"a {device}"
