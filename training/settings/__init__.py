"""What a run is told: declared once, read from flags and a TOML file, checked before anything is done."""

from training.settings.declared import Settings
from training.settings.read import read_settings
from training.settings.setting import SettingsError

__all__ = ["Settings", "SettingsError", "read_settings"]
