"""Settings of one root: the configuration file, overridden by the command line."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from torchlint.catalogue import Extensions, load_catalogue
from torchlint.catalogue.versions import admitted_releases, nearest_release
from torchlint.config.discovery import find_config, read_options
from torchlint.config.options import DEVICES, Options, parse_targets
from torchlint.config.selection import Layer, Selectors, on_causes, resolve_ignored, resolve_selection
from torchlint.diagnostics import Confidence, Severity
from torchlint.errors import ConfigError, device_hint

if TYPE_CHECKING:
    from torchlint.catalogue import Catalogue

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the command line gave; None (or an empty tuple, or False) leaves the file's value standing."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    baseline: Path | None = None
    torch: str | None = None
    assume_deterministic: bool = False
    devices: tuple[str, ...] = ()
    min_severity: Severity | None = None
    min_confidence: Confidence | None = None
    fail_on: Severity | None = None
    isolated_facts: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """All that decides how the files of one root are checked."""

    root: Path
    """The folder of the configuration file, else the folder asked about: patterns are relative to it."""
    config_file: Path | None
    selected: frozenset[str]
    """The codes that run."""
    per_file_ignores: tuple[tuple[str, frozenset[str]], ...]
    """Pattern and codes, in the order of the file."""
    exclude: tuple[str, ...]
    """The user's patterns (`exclude` and `extend-exclude`); the built-in ones come on top."""
    force_exclude: bool
    baseline: Path | None
    """The file of known findings that the user named; without one `torchlint-baseline.json` at the root counts."""
    torch: str | None
    """A version specifier such as `>=2.1`; a bare `2.6` has become `==2.6.*`."""
    determinism: str | None
    """`on`, `warn` or `off` where the configuration decides the mode; None leaves it to the facts."""
    assume_deterministic: bool
    devices: tuple[str, ...]
    """The devices the user named; empty when they named none."""
    extend_rules: tuple[Path, ...]
    extend_operators: tuple[Path, ...]
    max_file_size: int
    min_severity: Severity
    min_confidence: Confidence
    fail_on: Severity
    isolated_facts: bool
    fix: bool
    """Whether a check fixes what it can, without `--fix`."""
    unsafe_fixes: bool
    """Whether fixes that are not safe are among them."""
    fixable: frozenset[str] = field(default=frozenset(), repr=False)
    """The codes whose findings may be fixed."""
    shows_open: bool = field(default=False, repr=False)
    """Whether the points that rules leave open are looked for, as `audit` does."""
    optional: frozenset[str] = field(default=frozenset(), repr=False)
    """Rules on what makes runs differ that are off by default, and that the user does not ignore: for `audit`."""
    verify: tuple[tuple[str, str], ...] = ()
    """What `verify` builds targets with, by target: the table as JSON, so that settings can be compared and hashed."""
    verify_mistakes: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """By target what is wrong with its table: that is told by `verify`, and concerns nothing else."""

    @property
    def extensions(self) -> Extensions:
        """The user's own parts of the catalogue."""
        return Extensions(self.extend_rules, self.extend_operators)


def load_settings(
    folder: Path, overrides: Overrides, *, config: Path | None = None, isolated: bool = False
) -> Settings:
    """The settings for the files under `folder`.

    The nearest configuration file counts (`find_config`), or `config`, or with `isolated` none at all. The root is
    the folder of that file; for a `config` that does not stand above `folder` it is `folder`.
    Raises ConfigError (or CatalogueError for a file of `extend-rules` or `extend-operators`).
    """
    folder = Path(os.path.abspath(folder))  # noqa: PTH100 - as in find_config: keep symbolic links
    found = None
    if not isolated:
        found = find_config(folder) if config is None else Path(os.path.abspath(config))  # noqa: PTH100
    settings = _combine(found, None if found is None else _stamp(found), overrides)
    is_above = found is not None and found.parent in (folder, *folder.parents)
    return settings if is_above else replace(settings, root=folder)


def _stamp(config: Path) -> tuple[int, int]:
    """Changes when the file does, so that a long-lived process sees the edit."""
    try:
        status = config.stat()
    except OSError as error:
        raise ConfigError(f"{config}: cannot be read: {error.strerror or error}") from error
    return status.st_mtime_ns, status.st_size


@functools.lru_cache(maxsize=256)
def _combine(config: Path | None, _stamp: tuple[int, int] | None, overrides: Overrides) -> Settings:
    """Those of a configuration file, with its folder as the root: what is worked out hangs on no other folder."""
    folder = Path() if config is None else config.parent
    options, prefix = (Options(), "") if config is None else read_options(config)
    key = f"{config}: `{prefix}"
    extensions = _extensions(options, folder, key)
    catalogue = load_catalogue(extensions)
    torch = _torch(options, overrides, key, catalogue)
    layers = (_file_layer(options, key), _command_layer(overrides))
    targets, mistakes = parse_targets(options.verify, f"{key}verify.")
    selected = resolve_selection(layers, catalogue)
    kept = options.exclude if overrides.exclude is None else overrides.exclude
    return Settings(
        root=folder,
        config_file=config,
        selected=selected,
        optional=resolve_selection(layers, catalogue, on_causes) - selected,
        per_file_ignores=_per_file_ignores(options, key, catalogue),
        exclude=(*kept, *options.extend_exclude, *overrides.extend_exclude),
        force_exclude=options.force_exclude or overrides.force_exclude,
        baseline=_baseline(options, folder, overrides),
        torch=torch,
        determinism=options.determinism,
        assume_deterministic=overrides.assume_deterministic,
        devices=_devices(overrides) or tuple(dict.fromkeys(options.devices)),
        extend_rules=extensions.rules,
        extend_operators=extensions.operators,
        max_file_size=options.max_file_size,
        min_severity=_given(overrides.min_severity, Severity[options.min_severity.upper()]),
        min_confidence=_given(overrides.min_confidence, Confidence[options.min_confidence.upper()]),
        fail_on=_given(overrides.fail_on, Severity[options.fail_on.upper()]),
        isolated_facts=overrides.isolated_facts,
        fix=options.fix,
        unsafe_fixes=options.unsafe_fixes,
        fixable=_fixable(options, key, catalogue),
        verify=tuple((target, msgspec.json.encode(hooks).decode()) for target, hooks in targets.items()),
        verify_mistakes=tuple(mistakes.items()),
    )


def _given(override: T | None, configured: T) -> T:
    return configured if override is None else override


def _baseline(options: Options, folder: Path, overrides: Overrides) -> Path | None:
    if overrides.baseline is not None:
        return Path(os.path.abspath(overrides.baseline))  # noqa: PTH100 - as in find_config: keep symbolic links
    return None if options.baseline is None else folder / options.baseline


def _extensions(options: Options, folder: Path, key: str) -> Extensions:
    """The user's own catalogue files, whose paths are relative to the configuration."""
    rules, operators = (
        tuple(folder / path for path in paths) for paths in (options.extend_rules, options.extend_operators)
    )
    for name, paths in (("extend-rules", rules), ("extend-operators", operators)):
        for path in paths:
            if not path.exists():
                raise ConfigError(f"{key}{name}`: {path} does not exist")
    return Extensions(rules, operators)


def _file_layer(options: Options, key: str) -> Layer:
    return Layer(
        select=None if options.select is None else Selectors(options.select, f"{key}select`"),
        extend_select=Selectors(options.extend_select, f"{key}extend-select`"),
        ignores=(
            Selectors(options.ignore, f"{key}ignore`"),
            Selectors(options.extend_ignore, f"{key}extend-ignore`"),
        ),
    )


def _command_layer(overrides: Overrides) -> Layer:
    return Layer(
        select=None if overrides.select is None else Selectors(overrides.select, "--select"),
        extend_select=Selectors(overrides.extend_select, "--extend-select"),
        ignores=(
            Selectors(overrides.ignore, "--ignore"),
            Selectors(overrides.extend_ignore, "--extend-ignore"),
        ),
    )


def _per_file_ignores(options: Options, key: str, catalogue: Catalogue) -> tuple[tuple[str, frozenset[str]], ...]:
    return tuple(
        (pattern, resolve_ignored(Selectors(codes, f'{key}per-file-ignores."{pattern}"`'), catalogue))
        for pattern, codes in options.per_file_ignores.items()
    )


def _fixable(options: Options, key: str, catalogue: Catalogue) -> frozenset[str]:
    wanted = resolve_ignored(Selectors(options.fixable, f"{key}fixable`"), catalogue)
    return wanted - resolve_ignored(Selectors(options.unfixable, f"{key}unfixable`"), catalogue)


def _torch(options: Options, overrides: Overrides, key: str, catalogue: Catalogue) -> str | None:
    text, origin = (options.torch, f"{key}torch`") if overrides.torch is None else (overrides.torch, "--torch")
    if text is None:
        return None
    specifier = _parse_torch(text, origin)
    releases = catalogue.releases
    if not admitted_releases(specifier, releases) and nearest_release(specifier, releases) is None:
        raise ConfigError(f"{origin}: `{text}` allows no release of torch")
    return specifier


def _parse_torch(text: str, origin: str) -> str:
    """A version specifier; a bare release stands for its minor version, the grain at which torch is known."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415 - only when asked for
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415

    try:
        version = Version(text)
        return f"=={version.major}.{version.minor}.*"
    except InvalidVersion:
        pass
    try:
        specifier = SpecifierSet(text)
    except InvalidSpecifier:
        raise ConfigError(f"{origin}: `{text}` is not a torch version such as 2.6 or >=2.1,<2.6") from None
    if not specifier:
        raise ConfigError(f"{origin}: needs a torch version, such as 2.6 or >=2.1,<2.6")
    return text.strip()


def _devices(overrides: Overrides) -> tuple[str, ...]:
    for device in overrides.devices:
        if device not in DEVICES:
            hint = device_hint(device, DEVICES)
            raise ConfigError(f"--devices: unknown value `{device}`{hint} (choose from {', '.join(DEVICES)})")
    return tuple(dict.fromkeys(overrides.devices))
