"""What this system can put in the way of user code, and how it is put there."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import sys
from collections.abc import Iterable, Iterator

from torchlint.recording.confinement import audit_hook, landlock, limits, linux, seccomp
from torchlint.recording.confinement.job import Job, Walls

if sys.platform != "win32":
    import fcntl

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
_GPU_DEVICES = ("/dev/nvidia*", "/dev/dri", "/dev/kfd", "/dev/dxg")
_OWN_THREADS = "/proc/self/task"
"""CUDA's driver writes the names of its threads there, and does not start (error 304) where it may not."""
_OUT_OF_THE_WAY = 100
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - it is where the workers of a loader put their tensors


def offered() -> Walls:
    """The walls that the kernel says it has; a trial shows whether it lets them be put up."""
    return Walls(landlock=landlock.version(), seccomp=seccomp.is_available())


def confine(job: Job, protected: Iterable[int]) -> audit_hook.Guard:
    """Take from this process what it does not need to run user code; nothing gives it back.

    A wall that was said to stand and cannot be put up is an OSError: nothing may run without it. It names the step.
    """
    with _step("limits"):
        limits.apply(job.limits, limit_memory=not job.allow_gpu)
    writable = [job.scratch, *_extra_places(job)]
    if _OWN_THREADS in writable:
        _keep_open(_OWN_THREADS)
    if linux.IS_LINUX:
        with _step("no new privileges"):
            linux.forbid_new_privileges()
        with _step("capabilities"):
            _keep_to_reading(job.walls)
        if job.walls.landlock:
            with _step("Landlock"):
                landlock.restrict(job.walls.landlock, writable)
        if job.walls.seccomp:
            with _step("seccomp"):
                seccomp.restrict(unix_sockets=job.workers or job.allow_gpu)
    guard = audit_hook.install(writable, protected=protected, allow_commands=bool(job.walls.landlock))
    _prove(job)
    return guard


def _keep_to_reading(walls: Walls) -> None:
    """Root keeps the right to read the files of others, and nothing else of its powers.

    In a container it often holds that only together with the right to write, which Landlock then keeps from mattering.
    """
    also = (linux.CAP_DAC_OVERRIDE,) if walls.landlock else ()
    linux.keep_capability(linux.CAP_DAC_READ_SEARCH, *also)


@contextlib.contextmanager
def _step(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"{name}: {error.strerror}") from error


def _extra_places(job: Job) -> list[str]:
    if os.name == "nt":
        return [os.devnull]
    places = [path for path in _DEVICES if os.path.exists(path)]  # noqa: PTH110 - plain strings for the kernel
    if job.workers and os.path.isdir(_SHARED_MEMORY):  # noqa: PTH112 - likewise
        places.append(_SHARED_MEMORY)
    if job.allow_gpu:
        places += [path for pattern in _GPU_DEVICES for path in sorted(glob.glob(pattern))]  # noqa: PTH207 - likewise
        if os.path.isdir(_OWN_THREADS):  # noqa: PTH112 - likewise
            places.append(_OWN_THREADS)
    return places


def _keep_open(folder: str) -> None:
    """Until the process ends: one of /proc that the kernel has forgotten is another one to Landlock the next time."""
    descriptor = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY)  # user code may count descriptors from zero
    os.close(descriptor)


def _prove(job: Job) -> None:
    """The wall against writes holds: a folder beside the scratch folder cannot be made."""
    if not job.walls.landlock:
        return
    outside = f"{job.scratch}-outside"
    try:
        linux.make_folder(outside)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM):
            return
        raise
    os.rmdir(outside)  # noqa: PTH106 - as above
    raise PermissionError(errno.EPERM, "the kernel accepted a restriction and does not keep it")
