"""Asks git what a file was at a revision and whether it is ignored; runs nothing that the repository could name.

Only objects and the index are read: comparing files of the working tree would run the filters of `.gitattributes`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from torchlint.errors import ConfigError

if TYPE_CHECKING:
    import subprocess

# No monitor that the configuration names, and no transport: a partial clone fetches nothing behind our back.
_HARMLESS = ("--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never")
# In a hook they say where git itself is at work, which need not be where the files are.
_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_EXTERNAL_DIFF")


class Repository(msgspec.Struct, frozen=True):
    """One working tree and the commit to compare with."""

    top: Path
    commit: str
    old_names: dict[str, str]
    """Of files that were renamed since, by the new name."""

    @classmethod
    def open(cls, top: Path, revision: str) -> Repository:
        """Raises ConfigError where git is missing or knows no such commit."""
        if not revision:
            raise ConfigError("--since: an empty revision: the command that was to give one may have failed")
        if revision.startswith("-"):
            raise ConfigError(f"--since: `{revision}` is not a revision")
        done = _git(top, "rev-parse", "--verify", f"{revision}^{{commit}}")
        if done.returncode:
            raise ConfigError(f"--since: `{revision}` is not a commit of the repository {top}{_reason(done)}")
        commit = done.stdout.decode().strip()
        return cls(top, commit, dict(_renames(top, commit)))

    def old(self, path: Path) -> bytes | None:
        """What a file held at the commit, under its old name where it was renamed; None where it did not exist."""
        name = os.path.relpath(path, self.top).replace(os.sep, "/")
        done = _git(self.top, "cat-file", "blob", f"{self.commit}:{self.old_names.get(name, name)}")
        return None if done.returncode else done.stdout


def repository_top(folder: Path) -> Path:
    """The folder of the working tree that holds a folder. Raises ConfigError outside of any."""
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    raise ConfigError(f"--since: {folder} is not in a git repository")


def is_ignored(path: Path) -> bool:
    """Whether git leaves a file out of its repository; it does not where there is no git or no repository."""
    if shutil.which("git") is None:
        return False
    return _git(path.parent, "check-ignore", "--quiet", "--", path.name).returncode == 0


def _renames(top: Path, commit: str) -> Iterator[tuple[str, str]]:
    done = _git(
        top,
        *("diff", "--cached", "--no-ext-diff", "--no-textconv", "--ignore-submodules"),
        *("--find-renames", "--diff-filter=R", "--name-status", "-z", commit, "--"),
    )
    if done.returncode:
        raise ConfigError(f"--since: git cannot compare with {commit} in {top}{_reason(done)}")
    fields = iter(os.fsdecode(done.stdout).split("\0"))
    for _, old, new in zip(fields, fields, fields, strict=False):  # the last NUL ends the list
        yield new, old


def _git(top: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    import subprocess  # noqa: PLC0415 - slow to import, and hardly any run asks git

    program = shutil.which("git")
    if program is None:
        raise ConfigError("--since: git is not installed")
    kept = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    return subprocess.run(  # noqa: S603 - git, with arguments that are no options
        [program, *_HARMLESS, *arguments],
        cwd=top,
        env={**kept, "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    """Git's own words, where they say more than that there is no such commit."""
    said = " ".join(done.stderr.decode(errors="replace").split())
    return "" if "single revision" in said or not said else f" ({said})"
