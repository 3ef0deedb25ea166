"""Reads the catalogue from its TOML files and checks it: the only place that knows where they lie."""

from __future__ import annotations

import functools
import sys
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
import tomli

from torchlint.catalogue.compiled import data_of
from torchlint.catalogue.devices import DeviceFile
from torchlint.catalogue.flow import Containers, HostCopies, Orders
from torchlint.catalogue.generators import GeneratorFile
from torchlint.catalogue.libraries import Fact, Library, Use
from torchlint.catalogue.models import ModelFile
from torchlint.catalogue.programs import NameFile, ProgramFile, RandomnessFile, SwitchFile, TorchFile
from torchlint.catalogue.registry import Operator, OperatorFile, OperatorTexts, Spelling
from torchlint.catalogue.rules import Causes, Rule
from torchlint.catalogue.tensor_methods import TensorMethodFile
from torchlint.catalogue.values import ValueFile
from torchlint.catalogue.versions import Minor, parse_minor
from torchlint.catalogue.words import WordFile
from torchlint.errors import CatalogueError

if TYPE_CHECKING:
    if sys.version_info >= (3, 11):
        from importlib.resources.abc import Traversable
    else:
        from importlib.abc import Traversable

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Everything torchlint knows before it reads a line of the user's code. It is equal to itself alone."""

    rules: dict[str, Rule]
    """By code, in the order of the codes."""
    operators: tuple[Operator, ...]
    switches: SwitchFile
    programs: ProgramFile
    randomness: RandomnessFile
    names: NameFile
    devices: DeviceFile
    libraries: tuple[Library, ...]
    """Other libraries, with what varies in them."""
    releases: tuple[Minor, ...]
    """The torch releases that the registry was checked against, oldest first."""
    images: dict[str, str]
    """The torch in NVIDIA's images, by their tags."""
    newer_release: str = ""
    """The fix of what concerns older releases of torch alone, with `{newer}`."""
    by_name: dict[str, Rule] = field(default_factory=dict)
    spellings: dict[str, list[tuple[Operator, Spelling]]] = field(default_factory=dict)
    """Of the operators that rules report: by full name, by `.method` and by `[subscript]`."""

    @property
    def newest(self) -> Minor:
        """The release that is meant where nothing names one."""
        return self.releases[-1]

    @functools.cached_property
    def variables(self) -> frozenset[str]:
        """The environment variables that rules and operators ask about."""
        of_facts = (fact.unless_set for library in self.libraries for fact in library.fact)
        of_operators = (operator.unless_set for operator in self.operators)
        return frozenset({"CUBLAS_WORKSPACE_CONFIG", "PYTHONHASHSEED"}).union(*of_operators, *of_facts)

    @functools.cached_property
    def switch_names(self) -> frozenset[str]:
        """The attributes of torch that are switches, by their full names."""
        return frozenset(f"{module.name}.{entry.name}" for module in self.switches.module for entry in module.attribute)

    @functools.cached_property
    def context_calls(self) -> dict[str, tuple[str, ...]]:
        """The ids of the operators that only explain, by the call that reaches them."""
        found: dict[str, tuple[str, ...]] = {}
        for operator in self.operators:
            for spelling in operator.spelling if operator.is_context else ():
                if spelling.call and not spelling.where:
                    found[spelling.call] = (*found.get(spelling.call, ()), operator.id)
        return found

    @functools.cached_property
    def library_uses(self) -> dict[str, list[tuple[Library, Fact, Use]]]:
        """The calls of other libraries that vary, by full name or method."""
        found: dict[str, list[tuple[Library, Fact, Use]]] = {}
        for library in self.libraries:
            for fact in library.fact:
                for use in fact.use:
                    found.setdefault(use.call or use.method, []).append((library, fact, use))
        return found

    def fact(self, identity: str) -> tuple[Library, Fact]:
        """The fact of this id and its library. Raises StopIteration for one that does not exist."""
        return next((library, fact) for library in self.libraries for fact in library.fact if fact.id == identity)

    @functools.cached_property
    def context_models(self) -> tuple[tuple[str, str], ...]:
        """Pairs of what makes networks, and an operator that only explains and stands in them."""
        return tuple((name, operator.id) for operator in self.operators for name in operator.models)

    def operator(self, identity: str) -> Operator:
        """The entry of this id. Raises StopIteration for one that does not exist."""
        return next(operator for operator in self.operators if operator.id == identity)

    def find(self, code_or_name: str) -> Rule | None:
        """The rule of this code (any case) or name, planned ones included."""
        return self.rules.get(code_or_name.upper()) or self.by_name.get(code_or_name.lower())


def catalogue_root() -> Traversable:
    """The folder `rules/`: inside the installed package, or beside it in a checkout or editable install."""
    package = Path(__file__).parents[1]
    for folder in (package / "_rules", package.parent / "rules"):
        if folder.is_dir():
            return folder
    from importlib.resources import files  # noqa: PLC0415 - slow to import, and only a package in a zip file needs it

    return files("torchlint") / "_rules"


@dataclass(frozen=True, slots=True)
class Extensions:
    """The user's own rules and operators: folders of TOML files, or single files."""

    rules: tuple[Path, ...] = ()
    operators: tuple[Path, ...] = ()

    def files(self) -> tuple[Path, ...]:
        """The TOML files themselves."""
        return tuple(file for path in (*self.rules, *self.operators) for file in _own_files(path))


@functools.cache
def load_catalogue(extensions: Extensions = Extensions()) -> Catalogue:
    """Read and check the whole catalogue, with the user's own files behind it.

    Raises CatalogueError naming the file and the field.
    """
    root = catalogue_root()
    registry = root / "registry"
    rules = _rules_of(_toml_files(root))
    operators = _operators_of(_toml_files(registry / "operators"), rules, {})
    for path in extensions.rules:
        rules |= _extended_rules(path, rules)
    for path in extensions.operators:
        operators |= _extended_operators(path, rules, operators)
    torch = _decode(registry / "torch.toml", TorchFile)
    texts = _decode(registry / "texts.toml", OperatorTexts)
    switchable = {operator.rule for operator in operators.values() if operator.has_alternative}
    rules = {code: _with_texts(rule, texts, switchable) for code, rule in sorted(rules.items())}
    return Catalogue(
        rules=rules,
        operators=tuple(operators.values()),
        switches=_decode(registry / "switches.toml", SwitchFile),
        programs=_decode(registry / "programs.toml", ProgramFile),
        randomness=_decode(registry / "randomness.toml", RandomnessFile),
        names=_decode(registry / "names.toml", NameFile),
        devices=_decode(registry / "devices.toml", DeviceFile),
        libraries=_libraries_of(_toml_files(registry / "libraries"), rules),
        releases=tuple(parse_minor(release) for release in torch.releases),
        images=torch.nvidia_images,
        newer_release=texts.newer,
        by_name={rule.name: rule for rule in rules.values()},
        spellings=_spellings(operators.values(), rules),
    )


@functools.cache
def load_tensor_methods() -> TensorMethodFile:
    """What operations of torch do to tensors. No setting adds to it. Raises CatalogueError as the catalogue does."""
    return _decode(catalogue_root() / "registry" / "tensor_methods.toml", TensorMethodFile)


@functools.cache
def load_generators() -> GeneratorFile:
    """Seeds and generators by name. Raises CatalogueError as the catalogue does."""
    return _decode(catalogue_root() / "registry" / "generators.toml", GeneratorFile)


@functools.cache
def load_values() -> ValueFile:
    """What kinds of values code gives. Raises CatalogueError as the catalogue does."""
    return _decode(catalogue_root() / "registry" / "values.toml", ValueFile)


@functools.cache
def load_words() -> WordFile:
    """What words of names mean. Raises CatalogueError as the catalogue does."""
    return _decode(catalogue_root() / "registry" / "words.toml", WordFile)


@functools.cache
def load_containers() -> Containers:
    """What calls do to containers. Raises CatalogueError as the catalogue does."""
    return _decode(catalogue_root() / "registry" / "flow" / "containers.toml", Containers)


@functools.cache
def load_orders() -> Orders:
    """What becomes of orders. Raises CatalogueError as the catalogue does."""
    return _decode(catalogue_root() / "registry" / "flow" / "orders.toml", Orders)


@functools.cache
def load_causes() -> Causes:
    """How often each rule's subject was a cause. Raises CatalogueError as the catalogue does."""
    return _decode(catalogue_root() / "registry" / "causes.toml", Causes)


@functools.cache
def load_host_copies() -> HostCopies:
    """What becomes of copies to the host. Raises CatalogueError as the catalogue does."""
    return _decode(catalogue_root() / "registry" / "flow" / "host_copies.toml", HostCopies)


@functools.cache
def measured_packages() -> frozenset[str]:
    """The libraries whose models were measured, as code imports them."""
    return frozenset(path.name.removesuffix(".toml") for path in _toml_files(_models()))


@functools.cache
def load_models(package: str) -> ModelFile:
    """What the models of such a library hold: read when code calls it. Raises CatalogueError as the catalogue does."""
    return _decode(_models() / f"{package}.toml", ModelFile)


def argument_naming_model(call: str) -> str | None:
    """Of a call that builds the model of a given name: the first argument's name. None for other calls."""
    package = call.partition(".")[0]
    known = load_models(package) if package in measured_packages() else None
    return known.argument if known is not None and call in known.makers else None


def _models() -> Traversable:
    return catalogue_root() / "registry" / "models"


def _spellings(operators: Iterable[Operator], rules: dict[str, Rule]) -> dict[str, list[tuple[Operator, Spelling]]]:
    table: dict[str, list[tuple[Operator, Spelling]]] = {}
    for operator in operators:
        if not operator.is_context and rules[operator.rule].registry:
            for spelling in operator.spelling:
                table.setdefault(spelling.key, []).append((operator, spelling))
    return table


def _with_texts(rule: Rule, texts: OperatorTexts, switchable: Container[str]) -> Rule:
    """A rule of the registry with the common words for what it does not word itself."""
    if not rule.registry:
        return rule
    messages, advice = {**texts.messages, **rule.messages}, {**texts.advice, **rule.advice}
    remedy = f"{rule.remedy}\n{texts.mode}" if rule.remedy and rule.code in switchable else rule.remedy
    return msgspec.structs.replace(rule, messages=messages, advice=advice, remedy=remedy)


def _toml_files(folder: Traversable) -> list[Traversable]:
    return sorted((path for path in folder.iterdir() if path.name.endswith(".toml")), key=lambda path: path.name)


def _decode(path: Traversable, kind: type[T]) -> T:
    try:
        data = path.read_bytes()
        compiled = data_of(path, data)
        if compiled is not None:
            return msgspec.msgpack.decode(compiled, type=kind)
        return msgspec.convert(tomli.loads(data.decode()), kind)
    except OSError as error:
        raise CatalogueError(f"{path}: {error.strerror or error}") from error
    except (tomli.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise CatalogueError(f"{path}: {error}") from error


def _rules_of(paths: Iterable[Traversable]) -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for path in paths:
        rule = _decode(path, Rule)
        if rule.code in rules:
            raise CatalogueError(f"{path}: `code`: {rule.code} is taken by {rules[rule.code].name}")
        if path.name != f"{rule.code}-{rule.name}.toml":
            raise CatalogueError(f"{path}: `code` and `name` give the file name {rule.code}-{rule.name}.toml")
        rules[rule.code] = rule
    return rules


def _extended_rules(path: Path, known: dict[str, Rule]) -> dict[str, Rule]:
    """The user's rules in a folder or one file; they may not take a TL code and need no Python."""
    rules = _rules_of(_required_files("extend-rules", path))
    for rule in rules.values():
        if rule.code.startswith("TL") or rule.code in known:
            raise CatalogueError(f"{path}: `code`: {rule.code} belongs to another rule; choose letters of your own")
        if not rule.detect:
            raise CatalogueError(f"{path}: `detect`: {rule.code} has no pattern, so it would never report anything")
    return rules


def _extended_operators(path: Path, rules: dict[str, Rule], known: dict[str, Operator]) -> dict[str, Operator]:
    """The user's operators in a folder or one file, reported by the rules there are."""
    operators = _operators_of(_required_files("extend-operators", path), rules, known)
    for operator in operators.values():
        if not operator.is_context and not rules[operator.rule].registry:
            hint = "TL115 reports third-party operators"
            raise CatalogueError(f"{path}: `{operator.id}.rule`: {operator.rule} reports no registry entries; {hint}")
    return operators


def _required_files(option: str, path: Path) -> list[Path]:
    if not path.exists():
        raise CatalogueError(f"{option}: {path} does not exist")
    return _own_files(path)


def _own_files(path: Path) -> list[Path]:
    return sorted(path.glob("*.toml")) if path.is_dir() else [path]


def _operators_of(
    paths: Iterable[Traversable], rules: dict[str, Rule], known: dict[str, Operator]
) -> dict[str, Operator]:
    """By id, in the order of the files. `known` are the ids that are taken."""
    found: dict[str, Operator] = {}
    for path in paths:
        for operator in _decode(path, OperatorFile).operator:
            if operator.id in found or operator.id in known:
                raise CatalogueError(f"{path}: operator `{operator.id}` stands twice")
            if not operator.is_context and operator.rule not in rules:
                raise CatalogueError(f"{path}: operator `{operator.id}`: `rule`: no rule {operator.rule}")
            found[operator.id] = operator
    return found


def _libraries_of(paths: Iterable[Traversable], rules: dict[str, Rule]) -> tuple[Library, ...]:
    libraries, seen = [], set[str]()
    for path in paths:
        libraries.append(_decode(path, Library))
        for fact in libraries[-1].fact:
            if fact.id in seen:
                raise CatalogueError(f"{path}: fact `{fact.id}` stands twice")
            if fact.rule not in rules or (fact.use and "library" not in rules[fact.rule].messages):
                raise CatalogueError(f"{path}: fact `{fact.id}`: `rule`: {fact.rule} has no words for a library")
            seen.add(fact.id)
    return tuple(libraries)
