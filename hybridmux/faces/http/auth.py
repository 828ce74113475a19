"""Who may talk to the HTTP face: token, cookie, Origin, Host, and a limit on failed logins.

One bearer token per server. Programs send it as `Authorization: Bearer`; browsers get a cookie that is
derived from it (never the token itself); WebSocket clients may offer it as a subprotocol. Checks come in the
order Host (400), Origin (403), token (401), before anything is accepted.
"""

import hashlib
import hmac
from collections import deque
from collections.abc import Iterable
from urllib.parse import urlsplit

import trio
from attrs import frozen

from hybridmux.budgets import LOGIN_FAILURES, LOGIN_WINDOW
from hybridmux.errors import HybridmuxError

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
PROTOCOL = "hybridmux.v1"
BEARER_PROTOCOL = "hybridmux.bearer."
OPEN = ("/healthz", "/api/login")


class Unauthorized(HybridmuxError):
    """No token, or a wrong one."""

    status = 401


class ForeignOrigin(HybridmuxError):
    """The request comes from a web page that is not ours."""

    status = 403


class BadHost(HybridmuxError):
    """The Host header names somebody else."""

    status = 400


class TooManyLogins(HybridmuxError):
    """Too many failed logins from one address."""

    status = 429


@frozen(kw_only=True)
class Credentials:
    """What a request brought along."""

    authorization: str | None = None
    cookie: str | None = None
    protocols: tuple[str, ...] = ()


def host_name(header: str) -> str:
    """The name in a Host header, without port and brackets; empty if it is malformed."""
    try:
        return (urlsplit(f"//{header}").hostname or "").lower()
    except ValueError:
        return ""


def is_open(path: str) -> bool:
    """Whether a path is served without the token: the page itself holds no secrets."""
    return path in OPEN or not path.startswith(("/api/", "/ws/", "/metrics", "/ahp"))


class Gate:
    """The checks of one server."""

    def __init__(
        self, token: str, *, hosts: Iterable[str] = (), origins: Iterable[str] = (), scheme: str = "http"
    ) -> None:
        self._token = token
        self._scheme = scheme
        self._hosts = LOOPBACK | {host.lower() for host in hosts}
        self._origins = frozenset(origin.rstrip("/").lower() for origin in origins)
        self._cookie = hmac.new(token.encode(), b"hybridmux cookie", hashlib.sha256).hexdigest()
        self._failures: dict[str, deque[float]] = {}

    @property
    def cookie(self) -> str:
        """The cookie's value."""
        return self._cookie

    def check_host(self, header: str | None) -> None:
        """Raises `BadHost` (DNS rebinding)."""
        if not header or host_name(header) not in self._hosts:
            raise BadHost("this server does not answer to that Host")

    def check_origin(self, origin: str | None, host: str) -> None:
        """Raises `ForeignOrigin` for a page that is neither ours nor on the list."""
        if origin is None or origin.lower() == f"{self._scheme}://{host}".lower():
            return
        if origin.rstrip("/").lower() not in self._origins:
            raise ForeignOrigin("requests from other web pages are not served")

    def check_token(self, brought: Credentials) -> None:
        """Raises `Unauthorized`."""
        scheme, _, bearer = (brought.authorization or "").partition(" ")
        if scheme.lower() == "bearer" and self._is_token(bearer.strip()):
            return
        if brought.cookie is not None and hmac.compare_digest(brought.cookie.encode(), self._cookie.encode()):
            return
        offered = (p[len(BEARER_PROTOCOL) :] for p in brought.protocols if p.startswith(BEARER_PROTOCOL))
        if any(self._is_token(each) for each in offered):
            return
        raise Unauthorized("log in with the server's token (hybridmux prints it at its start)")

    def _is_token(self, candidate: str) -> bool:
        return hmac.compare_digest(candidate.encode(), self._token.encode())

    def login(self, token: str, address: str) -> str:
        """The cookie for the right token; raises `Unauthorized`, `TooManyLogins`."""
        now = trio.current_time()
        failures = self._failures.setdefault(address, deque())
        while failures and failures[0] < now - LOGIN_WINDOW:
            failures.popleft()
        if len(failures) >= LOGIN_FAILURES:
            raise TooManyLogins("too many failed logins; wait a minute")
        if not self._is_token(token):
            failures.append(now)
            raise Unauthorized("that is not this server's token")
        del self._failures[address]
        return self._cookie
