"""Settings: what `[tool.torchlint]`, `torchlint.toml` and the command line say, checked and combined."""

from torchlint.config.discovery import find_config
from torchlint.config.settings import Overrides, Settings, load_settings

__all__ = ["Overrides", "Settings", "find_config", "load_settings"]
