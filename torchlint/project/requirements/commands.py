"""What commands install (`pip install torch==2.1.0`): in shell scripts, notebooks, Dockerfiles and their images."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping

from torchlint.project.requirements.specifiers import of_conda, of_requirement

_INSTALL = re.compile(r"\b(?P<tool>pip[\d.]*|conda|mamba|micromamba)\s+(?:\w+\s+)??install\s+(?P<rest>.*)")
_END = re.compile(r"&&|\|\||[;|]|(?<=\s)#.*")
_OF_PIP = frozenset({"-f", "-i", "-r", "-c", "-t", "--find-links", "--index-url", "--extra-index-url", "--target"})
_OF_CONDA = frozenset({"-c", "-n", "-p", "--channel", "--name", "--prefix", "--file"})
"""Options whose value is the next word."""
_FROM = re.compile(r"^\s*FROM\s+(?:--\S+\s+)*(?P<image>\S+)", re.IGNORECASE | re.MULTILINE)
_ARGUMENT = re.compile(r"^\s*(?:ARG|ENV)\s+(?P<name>\w+)[=\s][\"']?(?P<value>[^\"'\s]*)", re.IGNORECASE | re.MULTILINE)
_USE = re.compile(r"\$(?:\{(?P<braced>\w+)(?::-(?P<default>[^}]*))?\}|(?P<plain>\w+))")
_OFFICIAL = re.compile(r"(?:^|/)pytorch/pytorch:(?P<version>\d+\.\d+(?:\.\d+)?)")
_NVIDIA = re.compile(r"(?:^|/)nvidia/pytorch:(?P<tag>\d\d\.\d\d)(?=-|$)")


def in_commands(text: str, package: str) -> Iterator[str]:
    """What the install commands of a shell script ask for."""
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        if not line.lstrip().startswith("#"):
            # `;` inside quotes (an environment marker) ends no command.
            for part in _END.split(re.sub(r"(['\"])([^'\"]*?);[^'\"]*\1", r"\1\2\1", line)):
                match = _INSTALL.search(part)
                if match is None:
                    continue
                is_pip = match["tool"].startswith("pip")
                for word in _words(match["rest"], _OF_PIP if is_pip else _OF_CONDA):
                    yield from of_requirement(word, package)
                    if not is_pip:
                        yield from of_conda(word, package)


def in_notebook(data: bytes, package: str) -> Iterator[str]:
    """What the commands of a notebook's code cells (`!pip install`, `%pip install`) ask for."""
    if b"install" not in data or package.encode() not in data:
        return
    try:
        cells = json.loads(data)["cells"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return  # the file's own check says what is wrong
    for text in texts:
        is_script = re.match(r"\s*%%(?:bash|sh|script|!)", text) is not None
        lines = (line.strip() for line in re.sub(r"\\\r?\n", " ", text).splitlines())
        yield from in_commands("\n".join(line for line in lines if is_script or line.startswith(("!", "%"))), package)


def _words(rest: str, with_value: frozenset[str]) -> Iterator[str]:
    try:
        words = iter(shlex.split(rest))
    except ValueError:  # a quote that nothing closes
        words = iter(rest.split())
    for word in words:
        if word in with_value:
            next(words, None)
        elif not word.startswith("-"):
            yield word


def in_dockerfile(text: str, package: str, images: Mapping[str, str]) -> Iterator[str]:
    """What a Dockerfile says of a package. `images` maps the tags of NVIDIA's images to the torch in them."""
    arguments = {match["name"]: match["value"] for match in _ARGUMENT.finditer(text)}
    filled = _USE.sub(lambda use: arguments.get(use["braced"] or use["plain"], use["default"] or use[0]), text)
    if package == "torch":
        for match in _FROM.finditer(filled):
            official, nvidia = _OFFICIAL.search(match["image"]), _NVIDIA.search(match["image"])
            if official is not None:
                yield f"=={official['version']}"
            if nvidia is not None and nvidia["tag"] in images:
                yield f"=={images[nvidia['tag']]}.*"
    yield from in_commands(filled, package)
