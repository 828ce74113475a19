"""What we need of hypercorn that it has no setting for.

hypercorn 0.18 accepts permessage-deflate whenever a client offers it (slower than the loopback it would
save, and a way to inflate 200 MiB out of one frame), and it shields its writes: neither a deadline nor a
shutdown ends a write to a peer that stopped reading. So extensions are refused, and connections are kept by
peer address to be cut below it.
"""

import contextlib
import socket
from typing import Any

import hypercorn.protocol.ws_stream
import hypercorn.trio.run
import hypercorn.trio.tcp_server
import trio

Address = tuple[str, int]
USER_TIMEOUT_MS = 10_000


class Connections:
    """The open TCP connections by peer address."""

    def __init__(self) -> None:
        self._open: dict[Address, trio.SocketStream] = {}

    def add(self, stream: trio.SocketStream) -> Address | None:
        """Remembers a connection; None when the peer is gone already."""
        try:
            address: Address = tuple(stream.socket.getpeername()[:2])
        except OSError:
            return None
        self._open[address] = stream
        return address

    def discard(self, address: Address | None) -> None:
        """Forgets a connection."""
        if address is not None:
            self._open.pop(address, None)

    def abort(self, address: Address) -> None:
        """Ends a connection at once; a write that waits for it fails."""
        stream = self._open.get(address)
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.socket.shutdown(socket.SHUT_RDWR)

    def abort_all(self) -> None:
        """Ends every connection."""
        for address in list(self._open):
            self.abort(address)


def install(connections: Connections) -> None:
    """Makes hypercorn's Trio server register its connections and refuse WebSocket extensions."""

    class Registered(hypercorn.trio.tcp_server.TCPServer):
        async def run(self) -> None:
            stream: Any = self.stream
            tcp = stream if isinstance(stream, trio.SocketStream) else stream.transport_stream
            address = connections.add(tcp)
            try:
                await super().run()
            finally:
                connections.discard(address)

    setattr(hypercorn.trio.run, "TCPServer", Registered)  # noqa: B010 - the seam this module exists for
    setattr(hypercorn.protocol.ws_stream, "server_extensions_handshake", lambda *_: None)  # noqa: B010


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; its connections end when a peer acknowledges nothing for 10 s. Raises `OSError`."""
    family, kind, proto, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    sock = socket.socket(family, kind, proto)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, USER_TIMEOUT_MS)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.bind(address)
        sock.listen(128)
    except OSError:
        sock.close()
        raise
    return sock
