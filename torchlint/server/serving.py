"""Starting the server on standard input and output, and ending it."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys

from lsprotocol import types

from torchlint.engine.cache.results import ResultCache
from torchlint.server.features import add_features
from torchlint.server.session import LOG, Session

_KINDS = {
    logging.DEBUG: types.MessageType.Debug,
    logging.INFO: types.MessageType.Info,
    logging.WARNING: types.MessageType.Warning,
    logging.ERROR: types.MessageType.Error,
}


class EditorLog(logging.Handler):
    """Shows what is logged in the editor's output panel."""

    def __init__(self, server: Session) -> None:
        super().__init__()
        self._server = server
        self.setFormatter(logging.Formatter("%(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        kind = _KINDS.get(record.levelno, types.MessageType.Log)
        self._server.window_log_message(types.LogMessageParams(kind, self.format(record)))


def serve(cache: ResultCache) -> int:
    """Serve until the client says `exit` or closes its end. The exit code is 1 unless it said `shutdown` before."""
    gc.disable()  # what a check makes mostly dies by itself; Session collects the rest while nobody waits
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # else Ctrl-C would wait for the next message
    server = Session(cache)
    add_features(server)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    LOG.addHandler(EditorLog(server))
    sys.stdout.flush()
    with os.fdopen(os.dup(1), "wb") as channel:
        os.dup2(2, 1)  # what anything else prints must not get among the messages
        server.start_io(stdout=channel)
    server.verifications.stop()
    return 0 if server.was_shut_down else 1
