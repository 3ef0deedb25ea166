"""Files that are no recordings, not whole ones, or made to do harm: one sentence, never a traceback."""

from __future__ import annotations

import os
import random
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.diverge.recorded import Call, Entered, Held, Made, recorded
from torchlint.diverge.data import Divergence
from torchlint.diverge.offline import compared
from torchlint.diverge.recordings import read_recorded
from torchlint.diverge.sources import Sources
from torchlint.errors import TorchlintError
from torchlint.recording.journal import framing
from torchlint.recording.journal.framing import Writer
from torchlint.recording.journal.records import PACKED, Header, Names, Outside, Row, Rows, Step, Tensor, Values


def small(path: Path, digest: int) -> Path:
    """A recording in which there is a bit of everything."""
    add = Call("aten.add.Tensor", 3, (Held(7),), (Held(digest, (0.5, float(digest))),))
    draw = Call("aten.bernoulli_.float", 4, (), (Held(digest),), generator=digest)
    kept = (Values(0, 0, "float32", struct.pack("<4f", 1, 2, 3, digest)),)
    entered = (Entered("read", "/project/data.csv", digest, 2), Entered("seed", f"seed({digest})", digest, 1))
    last = Made((add, draw), entered, {"parameters": digest}, (0.5,), (1.0, 2.0), kept)
    return recorded(path, Made((add,)), last, Made(ends_with="end"))


def compare(first: Path, other: Path) -> Divergence | TorchlintError:
    try:
        return compared(first, other, sources=Sources(first.parent))
    except TorchlintError as error:
        return error


def refusal(path: Path, other: Path) -> str:
    found = compare(path, other)
    assert isinstance(found, TorchlintError)
    assert str(path) in str(found)
    return str(found)


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    return small(tmp_path / "whole.tlrec", 1)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    return tmp_path / "broken.tlrec"


def test_a_recording_is_read_wherever_it_is_cut(tmp_path: Path, whole: Path, broken: Path) -> None:
    data = small(tmp_path / "other.tlrec", 2).read_bytes()
    verdicts = set()
    for length in range(0, len(data), 7):
        broken.write_bytes(data[:length])
        found = compare(whole, broken)
        verdicts.add(found.verdict if isinstance(found, Divergence) else "refused")
    assert verdicts == {"refused", "EQUAL", "DIFFERENT"}


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bytes_never_end_in_a_traceback(tmp_path: Path, whole: Path, broken: Path, seed: int) -> None:
    data = small(tmp_path / "other.tlrec", 2).read_bytes()
    chance = random.Random(seed)  # noqa: S311 - the same damage each time
    for _ in range(200):
        damaged = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(data))] = chance.randrange(256)
        broken.write_bytes(damaged)
        for tolerance in (None, 0.01):
            try:
                found = compared(whole, broken, tolerance=tolerance, sources=Sources(tmp_path))
            except TorchlintError as error:
                assert str(broken) in str(error)  # noqa: PT017 - either of the two is fine
            else:
                assert found.verdict in ("EQUAL", "DIFFERENT")


def test_an_empty_file_is_refused(whole: Path, broken: Path) -> None:
    broken.touch()
    assert "the file is empty" in refusal(broken, whole)


def test_another_kind_of_file_is_refused(whole: Path, broken: Path) -> None:
    broken.write_text("step,loss\n1,0.5\n")
    assert "no recording of torchlint" in refusal(broken, whole)


def test_a_file_of_another_version_says_which(whole: Path, broken: Path) -> None:
    broken.write_bytes(b"TLREC 2\n")
    assert "a recording of version 2" in refusal(broken, whole)
    assert "the newest torchlint reads it" in refusal(broken, whole)


def test_a_file_that_is_not_there_is_refused(whole: Path, broken: Path) -> None:
    assert "no such file" in refusal(broken, whole)


def test_a_folder_without_recordings_is_refused(tmp_path: Path, whole: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "no recording (*.tlrec) in this folder" in refusal(tmp_path / "empty", whole)


def test_a_folder_with_the_name_of_a_recording_is_refused(tmp_path: Path, whole: Path) -> None:
    (tmp_path / "folder" / "main.tlrec").mkdir(parents=True)
    assert "main.tlrec: no file" in refusal(tmp_path / "folder", whole)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes of Unix")
def test_a_pipe_is_not_waited_for(whole: Path, broken: Path) -> None:
    os.mkfifo(broken)
    assert "no file" in refusal(broken, whole)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_may_not_be_read_is_refused(whole: Path, broken: Path) -> None:
    small(broken, 1).chmod(0)
    assert "Permission denied" in refusal(broken, whole)


def test_a_recording_that_does_not_begin_with_its_header_is_refused(whole: Path, broken: Path) -> None:
    writer = Writer(broken)
    writer.write(Names((), ()))
    writer.close()
    assert "without a beginning" in refusal(broken, whole)


def test_a_frame_that_is_longer_than_the_file_is_taken_for_a_cut(whole: Path, broken: Path) -> None:
    recorded(broken, Made(), reason=None)
    with broken.open("ab") as file:
        file.write(struct.pack("<cI", b"S", 0xFFFFFFFF))
    found = compare(whole, broken)
    assert isinstance(found, Divergence)
    assert any("cut off" in each for each in found.notes)


def test_a_frame_that_unpacks_to_more_than_a_recorder_writes_is_refused(
    whole: Path, broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(framing, "_LARGEST", 1 << 16)
    zeros = zlib.compress(bytes(1 << 20))
    step = msgspec.msgpack.encode(Step(number=1, ends_with="end", operators=1, values={"loss": 5}))
    frames = [struct.pack("<cI", letter, len(each)) + each for letter, each in ((b"R", zeros), (b"S", step))]
    recorded(broken, reason=None)
    with broken.open("ab") as file:
        file.write(b"".join(frames))
    assert "a frame is too large" in refusal(broken, whole)


@pytest.mark.parametrize("seed", range(4))
def test_damage_inside_of_frames_never_ends_in_a_traceback(
    tmp_path: Path, whole: Path, broken: Path, seed: int
) -> None:
    data = small(tmp_path / "other.tlrec", 2).read_bytes()
    chance = random.Random(seed)  # noqa: S311 - the same damage each time
    for _ in range(100):
        broken.write_bytes(data[:8] + b"".join(_damaged(letter, plain, chance) for letter, plain in frames_of(data)))
        for tolerance in (None, 0.01):
            try:
                found = compared(whole, broken, tolerance=tolerance, sources=Sources(tmp_path))
            except TorchlintError as error:
                assert str(broken) in str(error)  # noqa: PT017 - either of the two is fine
            else:
                assert found.verdict in ("EQUAL", "DIFFERENT")


def frames_of(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The frames behind the first line, unpacked."""
    place = 8
    while place < len(data):
        letter, length = struct.unpack_from("<cI", data, place)
        payload = data[place + 5 : place + 5 + length]
        yield letter, zlib.decompress(payload) if letter in PACKED else payload
        place += 5 + length


def _damaged(letter: bytes, plain: bytes, chance: random.Random) -> bytes:
    changed = bytearray(plain)
    if chance.random() < 0.2:
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    payload = zlib.compress(changed) if letter in PACKED else bytes(changed)
    return struct.pack("<cI", letter, len(payload)) + payload


def test_a_file_name_that_no_system_knows_is_refused(tmp_path: Path, broken: Path) -> None:
    calls = [Call("aten.add.Tensor", 3, gives=(Held(digest),), path="/project/a\0b.py") for digest in (1, 2)]
    recorded(tmp_path / "named.tlrec", Made((calls[0],)))
    recorded(broken, Made((calls[1],), values={"parameters": 2}))
    assert "the name of a file holds a zero byte" in str(compare(tmp_path / "named.tlrec", broken))


HARMFUL = {
    "a text": Rows((Row(99, "forward", 0, 0, (), ()),), ()),
    "a negative text": Rows((Row(-1, "forward", 0, 0, (), ()),), ()),
    "a place": Rows((Row(0, "forward", 99, 0, (), ()),), ()),
    "a negative place": Rows((Row(0, "forward", -1, 0, (), ()),), ()),
    "the kind of a tensor": Rows((Row(0, "forward", 0, 0, (Tensor(1, 99),), ()),), ()),
    "the place of an event": Rows((), (Outside("seed", "seed", 1, 99),)),
}


@pytest.mark.parametrize("rows", HARMFUL.values(), ids=HARMFUL)
def test_a_number_without_its_name_is_refused(tmp_path: Path, broken: Path, rows: Rows) -> None:
    write_rows(tmp_path / "whole.tlrec", Rows((), ()), 1)
    write_rows(broken, rows, 2)
    assert "damaged: there is no name or place" in refusal(broken, tmp_path / "whole.tlrec")


def test_numbers_of_any_size_are_read(tmp_path: Path, broken: Path) -> None:
    largest = (1 << 64) - 1
    tensors = (Tensor(largest, 0, -(1 << 63), sample=(1e308, -1e308)),)
    row = Row(0, "backward", 0, 0, tensors, tensors, largest, largest, -5)
    for path, parameters in ((tmp_path / "whole.tlrec", 1), (broken, 2)):
        write_rows(path, Rows((row,), (Outside("seed", "seed", largest, 0, -7),)), parameters, losses=(1e308, -1e308))
    assert isinstance(compare(tmp_path / "whole.tlrec", broken), Divergence)


def test_what_is_read_is_never_more_than_one_step(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.tlrec", *(Made((Call("aten.add.Tensor", 3),)) for _ in range(5)))
    details = read_recorded(path).processes["main"].details()
    assert isinstance(details, Iterator)
    assert next(details).step.number == 1


def write_rows(path: Path, rows: Rows, parameters: int, losses: tuple[float, ...] = ()) -> None:
    header = {"pid": 1, "parent": 0, "role": "main", "argv": (), "folder": "/", "level": "operator", "seconds": 0.0}
    writer = Writer(path)
    writer.write(msgspec.convert({**header, "software": {}, "machine": {}, "variables": {}}, Header))
    step = Step(number=1, ends_with="optimizer 1", operators=1, losses=losses, sample=(1e308,))
    step.values = {"parameters": parameters}
    writer.write(Names(("float32[2] cpu",), ((("train.py", 3),),)), rows, step)
    writer.close()
