"""Options as programs read them: a table whose entries are attributes as well."""

from __future__ import annotations

from typing import Any


class Options(dict[str, Any]):
    """`config.width`, `config["width"]` and `config.get("width")`."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any option
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: object) -> None:
        self[name] = value


def options(value: Any) -> Any:  # noqa: ANN401 - whatever a configuration file can say
    """The value with such a table for each of its tables."""
    if isinstance(value, dict):
        return Options({key: options(each) for key, each in value.items()})
    return [options(each) for each in value] if isinstance(value, list) else value
