"""The JSON of an earlier audit, as far as a comparison needs it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from torchlint.audit.page import Light, Line, Section
from torchlint.errors import ConfigError

_WRITES = "`torchlint audit --output FILE.json` writes one"


class _Line(msgspec.Struct, frozen=True):
    status: Literal["green", "amber", "red"] | None
    label: str
    text: str
    code: str | None = None
    url: str | None = None

    def line(self) -> Line:
        light = None if self.status is None else Light[self.status.upper()]
        return Line(self.label, self.text, light, code=self.code or "", url=self.url or "")


class _Section(msgspec.Struct, frozen=True):
    key: str
    title: str
    lines: list[_Line]

    def section(self) -> Section:
        return Section(self.key, self.title, "", tuple(line.line() for line in self.lines), "")


class _Program(msgspec.Struct, frozen=True):
    program: str
    sections: list[_Section]


class _Audit(msgspec.Struct, frozen=True):
    torchlint: str
    programs: list[_Program]


@dataclass(frozen=True, slots=True)
class Earlier:
    """The sections of each program, by its name with `/`. Places and advice are out of date, and left out."""

    path: Path
    version: str
    """Of the torchlint that wrote it."""
    programs: dict[str, tuple[Section, ...]]

    @classmethod
    def read(cls, path: Path) -> Earlier:
        """Raises ConfigError for a file that cannot be read or is no audit."""
        try:
            found = msgspec.json.decode(path.read_text(encoding="utf-8-sig"), type=_Audit)
        except FileNotFoundError as error:
            raise ConfigError(f"{path}: there is no such audit ({_WRITES})") from error
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise ConfigError(f"{path}: cannot be read: {reason}") from error
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}: is not the JSON of an audit: {error} ({_WRITES})") from error
        programs = {one.program: tuple(section.section() for section in one.sections) for one in found.programs}
        return cls(path, found.torchlint, programs)
