"""What the routes and sockets of the HTTP face share."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from attrs import define
from quart import Response, request

from hybridmux.budgets import Budgets
from hybridmux.conversation.hub import Hub
from hybridmux.errors import HybridmuxError
from hybridmux.faces.http.answers import Answer, Answers, fingerprint
from hybridmux.faces.http.auth import Gate
from hybridmux.faces.http.viewers import Viewers
from hybridmux.wire.convert import dump, read_bytes

T = TypeVar("T")


class WrongContentType(HybridmuxError):
    """A body that is not declared as JSON."""

    status = 415


@define
class Context:
    """The parts of one server that the face needs."""

    hub: Hub
    gate: Gate
    answers: Answers
    viewers: Viewers
    budgets: Budgets
    cookie_name: str
    secure: bool


def respond(status: int, body: Any = None) -> Response:
    """A JSON answer, or an empty one."""
    if body is None:
        return Response(b"", status=status)
    return Response(dump(body), status=status, content_type="application/json")


async def read_body(kind: type[T]) -> T:
    """The request's JSON body; raises `BadRequest`, `WrongContentType`."""
    if request.mimetype != "application/json":
        raise WrongContentType("send the body as application/json")
    return read_bytes(await request.get_data(), kind)


async def perform(context: Context, work: Callable[[], Awaitable[Answer]]) -> Response:
    """Runs a command that has no id; it goes on when the client leaves."""
    answer = await context.answers.run(work)
    return respond(answer.status, answer.body)


async def command(
    context: Context, session: str, kind: type[T], work: Callable[[T], Awaitable[Answer]]
) -> Response:
    """Runs a command with a `clientRequestId` once."""
    body = await read_body(kind)
    data: bytes = await request.get_data()  # type: ignore[assignment]  # bytes unless as_text
    print_ = fingerprint(request.method, request.path, data)
    request_id: str = getattr(body, "client_request_id")  # noqa: B009 - every command body has it
    answer = await context.answers.once(session, request_id, print_, lambda: work(body))
    return respond(answer.status, answer.body)


def is_number(text: str) -> bool:
    """Whether a query value is a whole number that fits 64 bits (`isdigit` alone takes `²`)."""
    return text.isascii() and text.isdigit() and len(text) < 18
