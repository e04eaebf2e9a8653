"""What a run is told: declared once, read from flags and a TOML file, checked before anything is done."""

from .declared import Settings
from .read import read_settings
from .setting import SettingsError

__all__ = ["Settings", "SettingsError", "read_settings"]
