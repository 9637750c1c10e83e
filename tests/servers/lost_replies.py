"""A wire to a server that can lose the answer to a request which the server has carried out."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

from servers.s3_endpoint import LOOPBACK

CHUNK = 1 << 16


class Wire:
    """Passes bytes on, both ways."""

    def __init__(self, upstream_port: int) -> None:
        self._upstream = (LOOPBACK, upstream_port)
        self._listener = socket.create_server((LOOPBACK, 0))
        self.lose: Callable[[bytes, bytes], bool] = lambda request, answer: False
        """Whether the answer to a request is lost, by the beginnings of both; the connection then ends."""
        self.lost = 0
        self.carried_bytes = 0
        """Of answers, so far."""

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self._listener.getsockname()[1]}"

    def serve(self) -> None:
        with contextlib.suppress(OSError):  # closed at the end
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._pass_on, args=[client], daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _pass_on(self, client: socket.socket) -> None:
        asked: list[bytes] = [b""]
        with client, socket.create_connection(self._upstream) as server, contextlib.suppress(OSError):
            back = threading.Thread(target=self._pass_back, args=[server, client, asked], daemon=True)
            back.start()
            while data := client.recv(CHUNK):
                if data.split(b" ", 1)[0] in (b"GET", b"PUT", b"POST", b"HEAD", b"DELETE"):
                    asked[0] = data
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)
            back.join()

    def _pass_back(self, server: socket.socket, client: socket.socket, asked: list[bytes]) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(CHUNK):
                if data.startswith(b"HTTP/1.1 ") and self.lose(asked[0], data):
                    self.lost += 1
                    client.shutdown(socket.SHUT_RDWR)
                    return
                client.sendall(data)
                self.carried_bytes += len(data)
            client.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def wire_to(port: int) -> Iterator[Wire]:
    """A wire to a port of this machine."""
    wire = Wire(port)
    thread = threading.Thread(target=wire.serve, daemon=True)
    thread.start()
    try:
        yield wire
    finally:
        wire.close()
        thread.join()
