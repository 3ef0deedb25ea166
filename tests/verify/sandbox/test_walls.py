"""What user code cannot reach: the user's files, the network, other processes, the environment."""

from __future__ import annotations

import ast
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.verify.sandbox.attempts import COMMANDS, IMPORTS, SIGNALS, WITHOUT_EVENT, WRITES
from tests.verify.sandbox.remains import ENTRY, HERE, Run
from torchlint.recording.confinement.job import Walls
from torchlint.verify.sandbox import Confinement, Limits, Sandbox

pytestmark = pytest.mark.torch

HERE_STANDS = Confinement.of_this_system()
needs_landlock = pytest.mark.skipif(not HERE_STANDS.is_sandboxed, reason="no Landlock on this kernel")
needs_scope = pytest.mark.skipif(HERE_STANDS.walls.landlock < 6, reason="Landlock of this kernel has no scopes")
needs_seccomp = pytest.mark.skipif(not HERE_STANDS.walls.seccomp, reason="no seccomp on this kernel")

FROM_BELOW = [
    "subprocess.run(['rm', '-rf', DECOY], check=True)",
    "subprocess.run(f'echo x > {DECOY}/model.py', shell=True, check=True)",
    "assert ctypes.CDLL(None).unlink((DECOY + '/model.py').encode()) == 0",
    "assert ctypes.CDLL(None).truncate((DECOY + '/model.py').encode(), 0) == 0",
    "assert ctypes.CDLL(None).rename((DECOY + '/model.py').encode(), b'taken') == 0",
    "subprocess.run([sys.executable, '-c', 'import os, sys; os.remove(sys.argv[1])', DECOY + '/model.py'], check=True)",
]


@needs_landlock
@pytest.mark.parametrize("code", [*WRITES, WITHOUT_EVENT, *FROM_BELOW])
def test_the_users_files_stay_as_they_are(run: Run, code: str) -> None:
    assert run(IMPORTS + code).end == "crash"


@pytest.mark.parametrize("code", WRITES)
def test_without_walls_python_code_is_still_caught(bare: Run, code: str) -> None:
    assert "torchlint verify allows writes only below its scratch folder" in bare(IMPORTS + code).detail


@pytest.mark.parametrize("code", COMMANDS)
def test_without_walls_no_command_is_started(bare: Run, code: str) -> None:
    assert "starts no commands" in bare(IMPORTS + code).detail


def test_without_walls_it_says_what_is_not_protected() -> None:
    assert not Confinement.none().is_sandboxed
    assert Confinement.none().protections == ("audit hook",)
    assert Confinement.none().gaps == (
        "writes to files",
        "network",
        "permissions and times of files",
        "signals to other processes",
    )


@needs_landlock
@pytest.mark.parametrize("version", range(1, HERE_STANDS.walls.landlock + 1))
def test_older_versions_of_landlock_hold_as_well(
    run: Run, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    """The kernel answers an older program as an older kernel would."""
    monkeypatch.setattr(sandbox, "confinement", Confinement(Walls(landlock=version)))
    outcome = run(
        IMPORTS + "os.mkdir('a'); open('a/file', 'w').close()\nunlink = ctypes.CDLL(None).unlink\n"
        "send(str(unlink((DECOY + '/model.py').encode())).encode())"
    )
    assert (outcome.messages, outcome.end) == ((b"-1",), "done")


NAME_A_THREAD = """
def named(place):
    try:
        with open(place, 'w') as file:
            file.write('driver')
    except PermissionError:
        return 'refused'
    return open(place).read().strip()
"""


@needs_landlock
@pytest.mark.parametrize(("allow_gpu", "wanted"), [(True, b"driver"), (False, b"refused")])
def test_threads_can_be_named_where_a_gpu_is_allowed(run: Run, wanted: bytes, *, allow_gpu: bool) -> None:
    """As CUDA's driver does while it starts: without that it says that the system lacks something (error 304)."""
    code = "import os\n" + NAME_A_THREAD + "send(named(f'/proc/self/task/{os.getpid()}/comm').encode())"
    assert run(code, allow_gpu=allow_gpu).messages == (wanted,)


@needs_landlock
@pytest.mark.parametrize("place", ["/proc/sys/kernel/domainname", "/proc/{parent}/comm"])
def test_a_gpu_opens_nothing_else_of_proc(run: Run, place: str) -> None:
    code = "import os\n" + NAME_A_THREAD + f"send(named({place!r}.format(parent=os.getppid())).encode())"
    assert run(code, allow_gpu=True).messages == (b"refused",)


@needs_seccomp
@pytest.mark.parametrize(
    "code",
    [
        "os.chmod(DECOY + '/model.py', 0)",
        "os.utime(DECOY + '/model.py', (0, 0))",
        "os.chown(DECOY + '/model.py', 1, 1)",
        "assert ctypes.CDLL(None).chmod((DECOY + '/model.py').encode(), 0) == 0",
        "subprocess.run(['chmod', '000', DECOY + '/model.py'], check=True)",
        "subprocess.run(['touch', '-t', '200001010000', DECOY + '/model.py'])",
        "fd = os.open(DECOY + '/model.py', os.O_RDONLY); os.fchmod(fd, 0)",
        "os.setxattr(DECOY + '/model.py', 'user.x', b'1')",
    ],
)
def test_permissions_and_times_of_the_users_files_stay(run: Run, code: str) -> None:
    run(IMPORTS + code)  # the fixture compares


def test_the_scratch_folder_is_home_and_working_folder(run: Run) -> None:
    outcome = run(
        "import os, pathlib, shutil, sqlite3, tempfile\n"
        "pathlib.Path('here').write_text('x'); pathlib.Path.home().joinpath('.cache').mkdir()\n"
        "tempfile.mkdtemp(); tempfile.TemporaryFile().write(b'x'); shutil.copy2('here', 'there')\n"
        "os.makedirs('a/b'); os.rename('here', 'a/b/here'); os.link('there', 'a/link'); os.symlink('there', 'link')\n"
        "shutil.copytree('a', 'c', symlinks=True); shutil.rmtree('a')\n"
        "sqlite3.connect('db').execute('create table t (x)')\n"
        "open(os.devnull, 'w').write('x'); open('/dev/stdout', 'w').close()\n"
        "places = (os.getcwd(), os.environ['HOME'], tempfile.gettempdir())\n"
        "folders = {os.path.dirname(os.path.realpath(place)) for place in places}\n"
        "send(str(len(folders)).encode())"
    )
    assert (outcome.messages, outcome.end, outcome.output) == ((b"1",), "done", "")


def test_nothing_of_the_users_environment_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    monkeypatch.setenv("PYTHONSTARTUP", "/nowhere")
    with Sandbox(entry=ENTRY, paths=[HERE]) as sandbox:
        outcome = sandbox.run(
            b"import os\n"
            b"names = 'SECRET_TOKEN PYTHONSTARTUP PYTHONHASHSEED CUBLAS_WORKSPACE_CONFIG HF_HUB_OFFLINE'.split()\n"
            b"send(repr([os.environ.get(name) for name in names]).encode())"
        )
    assert outcome.messages == (b"[None, None, '0', ':4096:8', '1']",)


def test_nothing_leaks_from_one_request_to_the_next(run: Run) -> None:
    run(
        "import os, torch, random\ntorch.set_default_dtype(torch.float64); torch.use_deterministic_algorithms(True)\n"
        "torch.set_num_threads(1); torch.manual_seed(7); os.environ['LEAK'] = '1'; os.chdir('/'); torch.Tensor.leak = 1"
    )
    code = (
        "import os, torch\nsend(repr((torch.get_default_dtype(), torch.are_deterministic_algorithms_enabled(), "
        "os.environ.get('LEAK'), hasattr(torch.Tensor, 'leak'))).encode())"
    )
    assert run(code).messages == (b"(torch.float32, False, None, False)",)


def test_modules_are_not_looked_for_in_the_working_folder(run: Run) -> None:
    outcome = run("import os, sys; send(repr('' in sys.path or os.getcwd() in sys.path).encode())")
    assert outcome.messages == (b"False",)


class Listener:
    """A server on this machine that nobody may reach."""

    def __init__(self, family: socket.AddressFamily, kind: socket.SocketKind, address: str | tuple[str, int]) -> None:
        self.socket = socket.socket(family, kind)
        self.socket.bind(address)
        if kind == socket.SOCK_STREAM:
            self.socket.listen()
        self.socket.settimeout(0.2)

    def heard_nothing(self) -> bool:
        try:
            if self.socket.type == socket.SOCK_STREAM:
                self.socket.accept()[0].close()
            else:
                self.socket.recv(10)
        except TimeoutError:
            return True
        return False


@pytest.fixture(params=["tcp", "udp", "unix", "abstract", "unix datagram"])
def listener(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listener]:
    path = str(tmp_path_factory.mktemp("listener") / "socket")
    stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
    opened = {
        "tcp": lambda: Listener(socket.AF_INET, stream, ("127.0.0.1", 0)),
        "udp": lambda: Listener(socket.AF_INET, datagram, ("127.0.0.1", 0)),
        "unix": lambda: Listener(socket.AF_UNIX, stream, path),
        "abstract": lambda: Listener(socket.AF_UNIX, stream, f"\0torchlint-{os.getpid()}"),
        "unix datagram": lambda: Listener(socket.AF_UNIX, datagram, path),
    }[request.param]()
    yield opened
    opened.socket.close()


@pytest.mark.parametrize("workers", [False, True])
def test_no_socket_reaches_anyone(run: Run, listener: Listener, *, workers: bool) -> None:
    assert run(IMPORTS + talk(listener), workers=workers).detail.startswith("PermissionError")
    assert listener.heard_nothing()


def test_without_walls_no_socket_of_pythons_reaches_anyone(bare: Run, listener: Listener) -> None:
    assert bare(IMPORTS + talk(listener)).detail.startswith("PermissionError")
    assert listener.heard_nothing()


def talk(listener: Listener) -> str:
    opened = listener.socket
    family, kind, address = int(opened.family), int(opened.type), opened.getsockname()
    code = "s.connect({0!r})" if kind == socket.SOCK_STREAM else "s.sendto(b'x', {0!r})"
    return f"s = socket.socket({family}, {kind}); {code.format(address)}"


@needs_seccomp
def test_native_code_opens_no_socket(run: Run) -> None:
    code = "opened = [ctypes.CDLL(None).socket(family, kind, 0) for family in (1, 2, 10, 16, 40) for kind in (1, 2)]\n"
    assert run(IMPORTS + code + "send(repr(set(opened)).encode())").messages == (b"{-1}",)


def test_no_name_is_looked_up(run: Run) -> None:
    assert run("import socket; socket.getaddrinfo('example.com', 80)").detail.endswith(
        "torchlint verify gives no network"
    )


def test_event_loops_and_pipes_work(run: Run) -> None:
    outcome = run(
        "import asyncio, multiprocessing\nasyncio.run(asyncio.sleep(0))\n"
        "a, b = multiprocessing.Pipe(); a.send(1); send(str(b.recv()).encode())"
    )
    assert (outcome.messages, outcome.end) == ((b"1",), "done")


LOADER = (
    "import os, torch\nfrom torch.utils.data import DataLoader\n"
    "data = [torch.full((4,), float(i)) for i in range(8)]\n"
    "batches = iter(DataLoader(data, batch_size=2, num_workers=2))\n"
    "pids = [os.getpid(), *(worker.pid for worker in batches._workers)]\n"
    "send(str(sum(batch.sum().item() for batch in batches)).encode())\n"
    "send(repr(pids).encode())"
)


def test_a_loader_with_workers_runs_where_workers_are_allowed(run: Run) -> None:
    outcome = run(LOADER, workers=True)
    assert (outcome.messages[0], outcome.end, outcome.detail) == (b"112.0", "done", "")
    pids = ast.literal_eval(outcome.messages[1].decode())
    assert len(pids) == 3
    assert shared_by(pids) == [], "what workers share goes with them"


def test_shared_memory_of_killed_workers_is_deleted(run: Run) -> None:
    outcome = run(
        "import os, torch\nopen(f'/dev/shm/torch_{os.getpid()}_1', 'w').close()\n"
        "torch.multiprocessing.set_sharing_strategy('file_system')\nheld = torch.ones(1000).share_memory_()\n"
        "mine = [name for name in os.listdir('/dev/shm') if name.startswith(f'torch_{os.getpid()}_')]\n"
        "send(repr((os.getpid(), len(mine))).encode())\nos.kill(os.getpid(), 9)",
        workers=True,
    )
    pid, shared = ast.literal_eval(outcome.messages[0].decode())
    assert shared == 2
    assert shared_by([pid]) == [], "what workers share goes with them"


def shared_by(pids: Sequence[int]) -> list[str]:
    """What these processes left in shared memory; others use the same folder at the same time."""
    folder = Path("/dev/shm")  # noqa: S108 - it is what the tests are about
    return [path.name for pid in pids for path in folder.glob(f"torch_{pid}_*")]


@needs_landlock
def test_shared_memory_is_out_of_reach_otherwise(run: Run) -> None:
    assert run("open('/dev/shm/torchlint-test', 'w')").end == "crash"


KILL = "send(str(ctypes.CDLL(None).kill({pid}, {signal})).encode())"


@needs_scope
@pytest.mark.parametrize("signal", [9, 19])
def test_no_signal_leaves_the_sandbox(sandbox: Sandbox, run: Run, signal: int) -> None:
    server = sandbox._servers[0].pid
    for pid in ("os.getppid()", server, os.getpid()):
        outcome = run(IMPORTS + KILL.format(pid=pid, signal=signal))
        assert outcome.messages == (b"-1",)


@pytest.mark.parametrize("code", SIGNALS)
def test_without_walls_python_code_kills_no_one(bare: Run, code: str) -> None:
    outcome = bare(IMPORTS + code.replace("PARENT", str(os.getpid())))
    assert outcome.detail == "PermissionError: [Errno 1] torchlint verify lets no signal out"


def test_a_file_has_its_limit(run: Run) -> None:
    outcome = run("open('big', 'wb').write(bytes(2 << 20))", limits=Limits(file_bytes=1 << 20))
    assert outcome.detail == "OSError: [Errno 27] File too large"


def test_all_files_together_have_a_limit(run: Run) -> None:
    code = (
        "import os, time\nos.mkdir('a')\n"
        "for n in range(40): open(f'a/{n}', 'wb').write(os.urandom(1 << 20))\ntime.sleep(600)"
    )
    outcome = run(code, limits=Limits(disk_bytes=20 << 20))
    assert (outcome.end, outcome.detail) == ("memory", "wrote more than 0.0195 GiB of files")


def test_no_descriptor_of_the_sandboxs_own_is_open(run: Run) -> None:
    code = "import os; send(repr([fd for fd in range(4096) if os.path.exists(f'/proc/self/fd/{fd}')]).encode())"
    assert run(code).messages == (b"[0, 1, 2, 100]",)


HARD_TO_DELETE = [
    "os.makedirs('a/b'); open('a/b/c', 'w').close(); os.chmod('a/b/c', 0); os.chmod('a/b', 0); os.chmod('a', 0)",
    "libc = ctypes.CDLL(None)\nfor _ in range(1500):\n  libc.mkdir(b'deep', 0o700); libc.chdir(b'deep')",
    "os.symlink(DECOY, 'link'); os.symlink('/', 'root'); os.symlink('loop', 'loop')",
    "for i in range(3000): open(f'file-{i}', 'w').close()",
    "open(b'\\xff\\xfe name', 'w').close(); os.mkfifo('fifo'); os.mkdir('..\\n')",
    "os.chdir('..')\nfor name in os.listdir(): shutil.rmtree(name)\nos.chdir('..')",
]


@pytest.mark.parametrize("code", HARD_TO_DELETE)
def test_the_scratch_folder_goes_whatever_is_in_it(run: Run, code: str) -> None:
    assert run(IMPORTS + code).detail == ""  # the fixture looks


def test_without_seccomp_permissions_are_real_and_the_folder_goes(bare: Run) -> None:
    assert bare(IMPORTS + HARD_TO_DELETE[0]).detail == ""


def test_requests_may_be_run_from_several_threads(run: Run) -> None:
    found: list[bytes] = []

    def work(number: int) -> None:
        for turn in range(4):
            found.extend(run(f"import torch; send(str(int(torch.tensor({number * 10 + turn}))).encode())").messages)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(int, found)) == [number * 10 + turn for number in range(3) for turn in range(4)]
