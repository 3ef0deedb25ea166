"""The options of a configuration file, typed; every mistake names the file, the key and the nearest right one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import msgspec

from torchlint.errors import ConfigError, device_hint, nearest
from torchlint.input_notation import parse_input

T = TypeVar("T")
Device = Literal["cuda", "rocm", "cpu", "mps", "xpu"]
Determinism = Literal["on", "warn", "off"]
SeverityOption = Literal["error", "warning", "info"]
ConfidenceOption = Literal["high", "medium", "low"]

DEVICES: tuple[str, ...] = get_args(Device)
MAX_FILE_SIZE = 2_000_000

_CHOICES: dict[str, tuple[str, ...]] = {
    "determinism": get_args(Determinism),
    "devices": DEVICES,
    "fail-on": get_args(SeverityOption),
    "min-confidence": get_args(ConfidenceOption),
    "min-severity": get_args(SeverityOption),
}
_MESSAGE = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<place>.*)`)?", re.DOTALL)
_FACTORY = re.compile(r"[\w.]+:[\w.]+")
_ENUM = re.compile(r"Invalid enum value '?(?P<value>.*?)'?")
_UNKNOWN_FIELD = re.compile(r"Object contains unknown field (`.*`)")
_TYPE_NAMES = {
    "array": "a list",
    "bool": "true or false",
    "int": "a whole number",
    "object": "a table",
    "str": "a string",
    "float": "a number",
}


class TargetOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="kebab"):
    """How `verify` builds one target: what it is constructed with, its inputs, or a function that makes it all."""

    args: tuple[Any, ...] = ()
    """The positional arguments of the class."""
    kwargs: dict[str, Any] = {}
    """Its keyword arguments."""
    inputs: tuple[str, ...] = ()
    """What it is called with, an entry for each argument: `"float32[2,3,64,64]"`."""
    factory: str = ""
    """A function that makes the module and its inputs: `"tests.inputs:unet"`."""


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="kebab"):
    """The table as the user writes it. None means that the key is not there.

    The text below each key is what editors show and docs/configuration.md says (config/schema.py).
    """

    select: tuple[str, ...] | None = None
    """The rules that run: codes, prefixes, names, `ALL`. Not set: the default rules."""
    ignore: tuple[str, ...] = ()
    """Rules to leave out."""
    extend_select: tuple[str, ...] = ()
    """Rules to run as well."""
    extend_ignore: tuple[str, ...] = ()
    """The same as `ignore`."""
    per_file_ignores: dict[str, tuple[str, ...]] = {}
    """Patterns, each with the rules that it silences. One that is for no file at all is a finding (TL002). A pattern
    without `/` matches any part of a path (`tests`, `*_demo.py`); one with `/` the whole path from the root."""
    exclude: tuple[str, ...] = ()
    """Files and folders to skip, on top of the built-in ones (virtual environments, `build`, caches …)."""
    extend_exclude: tuple[str, ...] = ()
    """More of them. The command line's `--exclude` replaces `exclude`, but not these."""
    force_exclude: bool = False
    """Skip excluded files although they are named on the command line."""
    baseline: str | None = None
    """The file of known findings, relative to this file. Not set: `torchlint-baseline.json`, if it exists."""
    torch: str | None = None
    """The releases the project runs on: `"2.6"` or `">=2.1,<2.6"`. Not set: from the requirements nearest to a file."""
    determinism: Determinism | None = None
    """The determinism mode of every program. Use it where torchlint cannot see the mode, for example because a launcher
    turns it on. Not set: from the code."""
    devices: tuple[Device, ...] = ()
    """The devices it runs on. None given: CUDA (ROCm, where torch is pinned to a build for it) and those the code
    names, if a program uses them."""
    extend_rules: tuple[str, ...] = ()
    """Files or folders with rules of your own, relative to this file."""
    extend_operators: tuple[str, ...] = ()
    """Files or folders with operators of your own, relative to this file."""
    max_file_size: int = MAX_FILE_SIZE
    """Bytes of code. A larger file is skipped. Pictures in a notebook do not count."""
    min_severity: SeverityOption = "info"
    """The least severity reported."""
    min_confidence: ConfidenceOption = "medium"
    """The least confidence reported."""
    fail_on: SeverityOption = "warning"
    """The least severity that makes the exit code 1."""
    fix: bool = False
    """Write the safe fixes, as `--fix` does."""
    unsafe_fixes: bool = False
    """Count those fixes in that change more than the finding says."""
    fixable: tuple[str, ...] = ("ALL",)
    """The rules whose fixes may be written."""
    unfixable: tuple[str, ...] = ()
    """The rules whose fixes are never written."""
    verify: dict[str, Any] = {}
    """A table for each class or function, by its name (`[tool.torchlint.verify."pkg.models:UNet"]`), that says how
    `torchlint verify` builds it."""  # read by `parse_targets`


def parse_options(table: Mapping[str, Any], config: Path, prefix: str) -> Options:
    """Check one table. `prefix` is what stands before its keys in the file, such as `tool.torchlint.`."""
    known = Options.__struct_encode_fields__
    for key in table:
        if not prefix and (key == "tool" or is_nearly_torchlint(key)):
            raise ConfigError(f"{config}: `{key}`: in this file the keys stand at the top, in no table of their own")
        if key not in known:
            raise ConfigError(f"{config}: `{prefix}{key}`: unknown key{_key_hint(key, known)}")
    patterns = table.get("per-file-ignores")
    for pattern, codes in patterns.items() if isinstance(patterns, dict) else ():
        _convert(codes, tuple[str, ...], f"{config}: ", f'{prefix}per-file-ignores."{pattern}"')
    options = _convert(table, Options, f"{config}: ", prefix)
    if options.max_file_size <= 0:
        raise ConfigError(f"{config}: `{prefix}max-file-size`: must be more than 0 bytes")
    return options


def parse_targets(tables: Mapping[str, Any], key: str) -> tuple[dict[str, TargetOptions], dict[str, str]]:
    """The tables of targets, and by target what is wrong with the others: one wrong table is no reason to run nothing.

    `key` is how a message begins, such as ``pyproject.toml: `tool.torchlint.verify.``. Whether there is such a target
    `verify` says.
    """
    right: dict[str, TargetOptions] = {}
    mistakes: dict[str, str] = {}
    origin, _, prefix = key.rpartition("`")
    for target, table in tables.items():
        try:
            hooks = _convert(table, TargetOptions, origin, f'{prefix}"{target}".')
            _check_hooks(hooks, f'{key}"{target}"')
            right[target] = hooks
        except ConfigError as error:
            mistakes[target] = str(error)
    return right, mistakes


def is_nearly_torchlint(table: str) -> bool:
    """Whether a table is meant for torchlint. `torchfix` and `torchtnt` are other tools."""
    name = table.lower().replace("-", "").replace("_", "")
    return bool(nearest(name, ["torchlint"], cutoff=0.85))


def _check_hooks(hooks: TargetOptions, key: str) -> None:
    """`key` is how an error begins: the file and the table, up to its last quotation mark."""
    if hooks.factory and not _FACTORY.fullmatch(hooks.factory):
        raise ConfigError(f'{key}.factory`: write a function as "package.module:function"')
    for index, text in enumerate(hooks.inputs):
        try:
            parse_input(text)
        except ValueError as error:
            raise ConfigError(f"{key}.inputs[{index}]`: {error}") from error


def _convert(value: object, kind: type[T], origin: str, prefix: str) -> T:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(origin + _explain(str(error), prefix)) from error


def _key_hint(key: str, known: tuple[str, ...]) -> str:
    hint = nearest(key.replace("_", "-").lower(), known)
    return hint or f"; the keys are {', '.join(sorted(known))}"


def _explain(message: str, prefix: str) -> str:
    """Turn msgspec's message into `key`: what is wrong, in the words of a TOML file."""
    match = _MESSAGE.fullmatch(message)
    what, place = (match["what"], match["place"] or "") if match else (message, "")
    key = place.replace("[...]", "")
    enum = _ENUM.fullmatch(what)
    if enum:
        option = key.partition("[")[0]
        choices = _CHOICES.get(option, ())
        hint = (device_hint if option == "devices" else nearest)(enum["value"], choices)
        what = f"unknown value `{enum['value']}`{hint}"
        what += f" (choose from {', '.join(choices)})" if choices else ""
    else:
        what = _UNKNOWN_FIELD.sub(lambda found: f"unknown key {found[1]}", what)
        what = re.sub(r"`(\w+)( \| null)?`", lambda found: _TYPE_NAMES.get(found[1], found[1]), what)
        what = what[:1].lower() + what[1:]
    return f"`{f'{prefix}{key}'.rstrip('.')}`: {what}"
