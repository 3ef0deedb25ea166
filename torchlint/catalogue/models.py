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
    """Beginnings of the names that a maker takes, as `deit_`, before a digit also `resnet`; of each the model that was
    run."""


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
        found = self._by_call.get(call)
        if found is not None:
            return found.operators
        if call not in self.makers:
            model = call.rpartition(".")[2] if call.startswith(tuple(f"{one}." for one in self.namespaces)) else None
        families = [family for family in self._by_family if model is not None and _is_of(model, family)]
        return self._by_family[max(families, key=len)].operators if families else None

    @functools.cached_property
    def _by_call(self) -> dict[str, Holding]:
        return {call: holding for holding in self.holding for call in holding.calls}

    @functools.cached_property
    def _by_family(self) -> dict[str, Holding]:
        return {family: holding for holding in self.holding for family in holding.models}


def _is_of(model: str, family: str) -> bool:
    """`deit_tiny` is of `deit_` and `resnet18` of `resnet`, but `resize` is not of `res`."""
    rest = model[len(family) :]
    return model.startswith(family) and (not rest or family.endswith("_") or rest[0].isdigit())
