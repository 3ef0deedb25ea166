"""Settings: what `[tool.torchlint]`, `torchlint.toml` and the command line say, checked and combined."""

from torchlint.config.discovery import (
    BASELINE_FILE,
    OWN_FILE,
    config_in,
    ends_search,
    find_config,
    home_folder,
    misspelt,
)
from torchlint.config.settings import Overrides, Settings, load_settings

__all__ = [
    "BASELINE_FILE",
    "OWN_FILE",
    "Overrides",
    "Settings",
    "config_in",
    "ends_search",
    "find_config",
    "home_folder",
    "load_settings",
    "misspelt",
]
