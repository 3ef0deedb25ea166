"""Dockerfiles: the image they start from, and what they install."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from torchlint.project.requirements.commands import in_commands

_FROM = re.compile(r"^\s*FROM\s+(?:--\S+\s+)*(?P<image>\S+)", re.IGNORECASE | re.MULTILINE)
_ARGUMENT = re.compile(r"^\s*(?:ARG|ENV)\s+(?P<name>\w+)[=\s][\"']?(?P<value>[^\"'\s]*)", re.IGNORECASE | re.MULTILINE)
_USE = re.compile(r"\$(?:\{(?P<braced>\w+)(?::-(?P<default>[^}]*))?\}|(?P<plain>\w+))")
_OFFICIAL = re.compile(r"(?:^|/)pytorch/pytorch:(?P<version>\d+\.\d+(?:\.\d+)?)")
_NVIDIA = re.compile(r"(?:^|/)nvidia/pytorch:(?P<tag>\d\d\.\d\d)(?=-|$)")


def in_dockerfile(text: str, package: str, images: Mapping[str, str]) -> Iterator[str]:
    """What a Dockerfile says of a package. `images` maps the tags of NVIDIA's images to the torch in them."""
    arguments = {match["name"]: match["value"] for match in _ARGUMENT.finditer(text)}
    filled = _USE.sub(lambda use: _value(use, arguments), text)
    if package == "torch":
        for match in _FROM.finditer(filled):
            yield from _of_image(match["image"], images)
    yield from in_commands(filled, package)


def _value(use: re.Match[str], arguments: Mapping[str, str]) -> str:
    return arguments.get(use["braced"] or use["plain"], use["default"] or use[0])


def _of_image(image: str, images: Mapping[str, str]) -> Iterator[str]:
    official, nvidia = _OFFICIAL.search(image), _NVIDIA.search(image)
    if official is not None:
        yield f"=={official['version']}"
    if nvidia is not None and nvidia["tag"] in images:
        yield f"=={images[nvidia['tag']]}.*"
