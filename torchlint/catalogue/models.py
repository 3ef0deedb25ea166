"""The typed form of `rules/registry/models/`: which operators the models of a library hold, as runs showed."""

from __future__ import annotations

import functools

import msgspec


class Holding(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What all of these builders were seen to run, forward and backward, in training."""

    operators: tuple[str, ...]
    """Ids of the registry."""
    draws: bool
    """Whether the forward pass draws random numbers."""
    convolutions: bool
    calls: tuple[str, ...] = ()
    """Full names, as `torchvision.models.resnet18`."""
    models: dict[str, str] = msgspec.field(default_factory=dict)
    """Beginnings of the names that a maker takes, as `deit_` or `vit-`, before a digit or a dash also `resnet`; of each
    the model that was run."""


class ModelFile(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True, kw_only=True):
    """The models of one library."""

    package: str
    """As code imports it; the file is named for it."""
    release: str
    """The one that was run."""
    torch: str
    makers: tuple[str, ...] = ()
    """Calls whose first argument names a model: `timm.create_model("resnet18")`."""
    argument: str = ""
    """What makers call that argument."""
    namespaces: tuple[str, ...] = ()
    """Modules that hold a builder by the name of each model: `timm.models.resnet.resnet18`."""
    methods: tuple[str, ...] = ()
    """Methods of classes that build the same: `from_pretrained`."""
    holding: tuple[Holding, ...]

    def __post_init__(self) -> None:
        seen = set[str]()
        for holding in self.holding:
            for builder in (*holding.calls, *holding.models):
                if builder in seen:
                    raise ValueError(f"`{builder}` stands twice")
                seen.add(builder)

    def held_by(self, call: str, model: str | None) -> tuple[str, ...] | None:
        """The operators of what a call builds, given this name; None for what was not measured."""
        builder = call.rpartition(".")[0] if call.rpartition(".")[2] in self.methods else call
        found = self._by_call.get(builder) or self._by_call.get(self._short(builder))
        if found is not None:
            return found.operators
        if call not in self.makers:
            model = call.rpartition(".")[2] if self._is_within(call) else None
        name = model.rpartition("/")[2].lower() if model is not None else ""
        families = [family for family in self._by_family if _is_of(name, family)]
        return self._by_family[max(families, key=len)].operators if families else None

    def _short(self, builder: str) -> str:
        """`transformers.BertModel` of `transformers.models.bert.modeling_bert.BertModel`."""
        return f"{self.package}.{builder.rpartition('.')[2]}" if self._is_within(builder) else builder

    def _is_within(self, call: str) -> bool:
        return call.startswith(tuple(f"{one}." for one in self.namespaces))

    @functools.cached_property
    def _by_call(self) -> dict[str, Holding]:
        return {call: holding for holding in self.holding for call in holding.calls}

    @functools.cached_property
    def _by_family(self) -> dict[str, Holding]:
        return {family: holding for holding in self.holding for family in holding.models}


def _is_of(name: str, family: str) -> bool:
    """`deit_tiny` is of `deit_`, `resnet18` and `resnet-18` of `resnet`, but `resize` is not of `res`."""
    rest = name[len(family) :]
    return name.startswith(family) and (not rest or family[-1] in "_-" or rest[0].isdigit() or rest[0] == "-")
