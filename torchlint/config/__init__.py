"""Settings: what `[tool.torchlint]`, `torchlint.toml` and the command line say, checked and combined."""

from torchlint.config.discovery import BASELINE_FILE, OWN_FILE, find_config, misspelt
from torchlint.config.settings import Overrides, Settings, load_settings

__all__ = ["BASELINE_FILE", "OWN_FILE", "Overrides", "Settings", "find_config", "load_settings", "misspelt"]
