"""Nothing but the entry's own messages is ever read as a result."""

from __future__ import annotations

import os

import pytest

from tests.verify.sandbox.remains import Run
from torchlint.recording.process.channel import ChannelError, Decoder, Writer, encode
from torchlint.verify.sandbox import Limits

pytestmark = pytest.mark.torch

NONCE = bytes(range(16))
FIND_PIPES = (
    "import os, stat\n"
    "def pipes():\n"
    "  for number in range(3, 300):\n"
    "    try:\n"
    "      if stat.S_ISFIFO(os.fstat(number).st_mode): yield number\n"
    "    except OSError: pass\n"
)


def test_lines_on_standard_output_are_no_messages(run: Run) -> None:
    outcome = run("print({'verdict': 'REFUTED'}); import os; os._exit(0)")
    assert (outcome.messages, outcome.end) == ((), "crash")


def test_forged_bytes_in_the_pipe_are_noticed(run: Run) -> None:
    forge = "send(b'true')\nfor pipe in pipes(): os.write(pipe, bytes(64))\nimport time; time.sleep(600)"
    outcome = run(FIND_PIPES + forge)
    assert (outcome.messages, outcome.end) == ((b"true",), "channel")
    assert outcome.detail == "something else wrote into the result channel"


def test_closing_every_descriptor_is_noticed(run: Run) -> None:
    outcome = run("import os, time\nsend(b'before')\nos.closerange(0, 4096)\ntime.sleep(600)")
    assert (outcome.messages, outcome.end) == ((b"before",), "channel")
    assert outcome.detail == "the target closed the result channel"


def test_closing_every_descriptor_and_going_on_is_not_done(run: Run) -> None:
    outcome = run("import os\nos.closerange(0, 4096)\nsend(b'lost')")
    assert outcome.messages == ()
    assert outcome.end in {"crash", "channel"}


def test_nothing_is_written_into_a_file_that_took_the_channels_number(run: Run) -> None:
    outcome = run(
        FIND_PIPES + "taken = list(pipes())\nfor pipe in taken:\n  file = os.open('file', os.O_CREAT | os.O_RDWR)\n"
        "  os.dup2(file, pipe)\ntry: send(b'lost')\nexcept Exception as error: print(error)\n"
        "print(os.path.getsize('file'))"
    )
    assert (outcome.messages, outcome.end) == ((), "crash")
    assert outcome.output.startswith("the result channel was closed by the target\n0\n")


def test_a_forked_process_that_holds_the_pipe_holds_up_nothing(run: Run) -> None:
    outcome = run("import os, time\nif os.fork() == 0: time.sleep(600)\nos._exit(0)")
    assert (outcome.end, outcome.detail) == ("crash", "exited with code 0 before it was done")


def test_a_forked_process_cannot_report(run: Run) -> None:
    outcome = run("import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\nsend(b'parent' if pid else b'child')")
    assert (outcome.messages, outcome.end) == ((b"parent",), "done")


def test_a_forked_process_that_returns_does_not_end_the_run(run: Run) -> None:
    outcome = run("import os, time\nif os.fork():\n  time.sleep(0.3)\n  send(b'parent')")
    assert (outcome.messages, outcome.end) == ((b"parent",), "done")


def test_many_small_messages_arrive_in_order(run: Run) -> None:
    outcome = run("for number in range(100_000): send(b'%d' % number)")
    assert outcome.end == "done"
    assert outcome.messages == tuple(b"%d" % number for number in range(100_000))


def test_a_large_message_arrives(run: Run) -> None:
    outcome = run("send(bytes(range(256)) * (1 << 17))")
    assert outcome.end == "done"
    assert outcome.messages == (bytes(range(256)) * (1 << 17),)


def test_a_message_that_is_too_large_is_refused(run: Run) -> None:
    outcome = run("send(bytes(65 << 20))")
    assert (outcome.messages, outcome.end) == ((), "crash")
    assert outcome.detail.startswith("torchlint.recording.process.channel.ChannelError: a message of 68157440 bytes")


def test_messages_without_end_are_ended(run: Run) -> None:
    outcome = run("message = bytes(8 << 20)\nwhile True: send(message)", limits=Limits(seconds=30))
    assert (outcome.end, outcome.detail) == ("channel", "more than 256 MiB came through the result channel")


def test_messages_of_several_threads_stay_whole(run: Run) -> None:
    outcome = run(
        "import threading\nwork = lambda letter: [send(letter * 10_000) for _ in range(200)]\n"
        "threads = [threading.Thread(target=work, args=(letter,)) for letter in (b'a', b'b', b'c')]\n"
        "for thread in threads: thread.start()\nfor thread in threads: thread.join()"
    )
    assert sorted(outcome.messages) == [letter * 10_000 for letter in (b"a", b"b", b"c") for _ in range(200)]


def test_frames_come_whole_out_of_pieces_of_any_size() -> None:
    stream = encode(NONCE, "message", b"one") + encode(NONCE, "message") + encode(NONCE, "end")
    decoder = Decoder(NONCE)
    frames = [frame for place in range(len(stream)) for frame in decoder.feed(stream[place : place + 1])]
    assert [(frame.kind, frame.payload) for frame in frames] == [("message", b"one"), ("message", b""), ("end", b"")]


def test_a_frame_with_another_nonce_is_refused() -> None:
    with pytest.raises(ChannelError, match="something else wrote"):
        list(Decoder(NONCE).feed(encode(bytes(16), "end")))


def test_a_writer_belongs_to_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    writer = Writer(writing, NONCE)
    monkeypatch.setattr("torchlint.recording.process.channel.os.getpid", lambda: -1)
    with pytest.raises(ChannelError, match="must not write its result"):
        writer.message(b"forged")
    os.close(writing)
    assert os.read(reading, 100) == b""
    os.close(reading)
