"""The peer: order, both directions, cancellation, and an agent that misbehaves in every way we know."""

import orjson
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from hybridmux.acp import jsonrpc
from hybridmux.acp.jsonrpc import PeerClosed, RpcError, open_peer
from hybridmux.budgets import ACP_BATCH, ACP_LINE, ACP_OPEN_REQUESTS, GLUED_BYTES, GLUED_TRIES
from tests.acp.streams import MemoryStream, stream_pair


def line(**fields) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", **fields}) + b"\n"


class Agent:
    """The other end, by hand: raw bytes out, parsed lines in."""

    def __init__(self, stream: MemoryStream) -> None:
        self.stream = stream
        self.seen: list[tuple[str, object]] = []
        self.requests = {}
        self._lines: list[dict] = []
        self._tail = b""

    def notified(self, method, params) -> None:
        self.seen.append((method, params))

    def say(self, *lines: bytes) -> None:
        self.stream.peer.feed(b"".join(lines))

    def hang_up(self) -> None:
        self.stream.peer.end()

    async def read(self) -> dict:
        while not self._lines:
            *lines, self._tail = (self._tail + await self.stream.receive_some()).split(b"\n")
            self._lines += [orjson.loads(one) for one in lines]
        return self._lines.pop(0)

    def peer(self, **more):
        return open_peer(self.stream.peer, notified=self.notified, requests=self.requests, **more)


@pytest.fixture
def agent() -> Agent:
    return Agent(stream_pair()[1])


async def test_a_request_is_one_line_and_its_answer_comes_back(agent, autojump_clock):
    async with agent.peer() as peer, trio.open_nursery() as nursery:
        results = []

        async def ask():
            results.append(await peer.request("session/new", {"cwd": "/x"}))

        nursery.start_soon(ask)
        assert await agent.read() == {
            "jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/x"}
        }  # fmt: skip
        agent.say(line(id=1, result={"sessionId": "s"}))
    assert results == [{"sessionId": "s"}]


async def test_answers_find_their_own_requests_in_any_order(agent, autojump_clock):
    async with agent.peer() as peer:
        calls = [peer.start("m", n) for n in range(5)]
        for call in reversed(calls):
            agent.say(line(id=call.id, result=call.id * 10))
        assert [await call.result() for call in calls] == [10, 20, 30, 40, 50]


async def test_an_error_answer_raises_with_code_message_and_data(agent, autojump_clock):
    async with agent.peer() as peer:
        agent.say(line(id=1, error={"code": -32000, "message": "Authentication required", "data": {"a": 1}}))
        with pytest.raises(RpcError, match="Authentication required") as caught:
            await peer.request("session/prompt", {})
    assert (caught.value.code, caught.value.data) == (-32000, {"a": 1})


async def test_notifications_before_an_answer_are_handled_before_its_waiter_runs(agent, autojump_clock):
    """Of many updates in one read and then the answer, also across several reads and batches."""
    count = ACP_BATCH * 5 + 7
    for piece in (100, 4096, 1 << 20):
        agent = Agent(stream_pair()[1])
        agent.stream.peer.piece = piece
        updates = [line(method="session/update", params=n) for n in range(count)]
        async with agent.peer() as peer:
            agent.say(*updates, line(id=1, result=None), line(method="session/update", params="after"))
            await peer.request("session/load", {})
            assert [params for _, params in agent.seen[:count]] == list(range(count))


async def test_our_notifications_and_requests_keep_their_order(agent, autojump_clock):
    async with agent.peer() as peer:
        peer.start("a", None)
        peer.notify("b", None)
        peer.start("c", None)
        assert [(await agent.read())["method"] for _ in range(3)] == ["a", "b", "c"]


@pytest.mark.parametrize("tell", [False, True])
async def test_a_cancelled_request_is_forgotten_and_the_agent_told_only_if_asked(agent, autojump_clock, tell):
    async with agent.peer() as peer:
        with trio.move_on_after(1) as scope:
            await peer.request("slow", {}, cancel_remote=tell)
        assert scope.cancelled_caught
        agent.say(line(id=1, result="late"))
        peer.notify("mark", None)
        sent = []
        while not sent or sent[-1]["method"] != "mark":
            sent.append(await agent.read())
        told = [one["params"] for one in sent if one["method"] == "$/cancel_request"]
        assert told == ([{"requestId": 1}] if tell else [])
        await wait_all_tasks_blocked()
        assert peer.counts == {"unknown_response": 1}


async def test_the_agents_requests_are_answered_as_they_finish(agent, autojump_clock):
    async def wait(seconds):
        await trio.sleep(seconds)
        if seconds == 2:
            raise RpcError(-32602, "two is no number", {"n": 2})
        return {"waited": seconds}

    agent.requests["wait"] = wait
    async with agent.peer():
        agent.say(*(line(id=f"r{n}", method="wait", params=n) for n in (3, 2, 1)))
        answers = [await agent.read() for _ in range(3)]
    assert answers == [
        {"jsonrpc": "2.0", "id": "r1", "result": {"waited": 1}},
        {
            "jsonrpc": "2.0",
            "id": "r2",
            "error": {"code": -32602, "message": "two is no number", "data": {"n": 2}},
        },
        {"jsonrpc": "2.0", "id": "r3", "result": {"waited": 3}},
    ]


@pytest.mark.parametrize("method", ["fs/write_text_file", "terminal/create", "_x", ""])
async def test_a_method_we_do_not_offer_is_answered_at_once(agent, autojump_clock, method):
    async with agent.peer() as peer:
        agent.say(line(id=0, method=method, params={}))
        answer = await agent.read()
        assert (answer["id"], answer["error"]["code"]) == (0, -32601)
        assert peer.counts == {"unknown_method": 1}


async def test_an_agent_may_take_a_request_back(agent, autojump_clock):
    async def wait(_):
        await trio.sleep_forever()

    agent.requests["wait"] = wait
    async with agent.peer():
        agent.say(line(id=7, method="wait"), line(method="$/cancel_request", params={"requestId": 7}))
        answer = await agent.read()
    assert (answer["id"], answer["error"]["code"]) == (7, -32800)


@pytest.mark.parametrize("params", [None, [], {}, {"requestId": []}, {"requestId": {}}, {"requestId": 99}])
async def test_an_odd_cancel_request_does_nothing(agent, autojump_clock, params):
    async with agent.peer() as peer:
        agent.say(line(method="$/cancel_request", params=params), line(id=1, result="ok"))
        assert await peer.request("m", {}) == "ok"


async def test_open_requests_are_bounded_and_an_open_id_is_not_used_twice(agent, autojump_clock):
    release = trio.Event()

    async def hold(_):
        await release.wait()
        return "held"

    agent.requests["hold"] = hold
    async with agent.peer() as peer:
        agent.say(
            *(line(id=n, method="hold") for n in range(ACP_OPEN_REQUESTS + 3)), line(id=0, method="hold")
        )
        refused = [await agent.read() for _ in range(4)]
        assert [one["id"] for one in refused] == [*range(ACP_OPEN_REQUESTS, ACP_OPEN_REQUESTS + 3), 0]
        assert [one["error"]["code"] for one in refused] == [-32603, -32603, -32603, -32600]
        release.set()
        held = [await agent.read() for _ in range(ACP_OPEN_REQUESTS)]
        assert {one["result"] for one in held} == {"held"}
        assert sorted(one["id"] for one in held) == list(range(ACP_OPEN_REQUESTS))
        assert peer.counts["refused"] == 3


GARBAGE = [
    b"Warning: something\n",
    b"\x00\x00\xff\xfe\n",
    b"\x1b[31mred\x1b[0m\n",
    b"[" * 100_000 + b"]" * 100_000 + b"\n",
    b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"\n",
    b'{"jsonrpc":"2.0","method":"x"\n',
    b'{"method":"\xff"}\n',
    b'{"method":"\\ud800"}\n',
    b"\xef\xbb\xbf{}\n",
]
INVALID = [
    b"null\n", b"1\n", b'"text"\n', b"[]\n", b"{}\n", b'{"id":1}\n', b'{"method":1}\n', b'{"method":null}\n',
    b'[{"jsonrpc":"2.0","id":1,"result":1}]\n', b'{"id":[1],"method":"m"}\n', b'{"id":{},"method":"m"}\n',
    b'{"id":true,"method":"m"}\n', b'{"method":{},"id":1,"result":2}\n',
]  # fmt: skip
UNKNOWN = [
    b'{"id":9,"result":1}\n', b'{"id":"1","result":1}\n', b'{"id":true,"result":1}\n',
    b'{"id":1.0,"result":1}\n',
    b'{"id":null,"error":{"code":-32700,"message":"Parse error"}}\n', b'{"id":[1],"result":1}\n',
    b'{"id":{"a":1},"result":1,"error":{}}\n', b'{"id":18446744073709551615,"error":null}\n',
]  # fmt: skip
SILENT = [b"\n", b"\r\n", b"  \t \n"]


@pytest.mark.parametrize(
    ("kind", "bad"),
    [
        *[("garbage", one) for one in GARBAGE],
        *[("invalid", one) for one in INVALID],
        *[("unknown_response", one) for one in UNKNOWN],
        *[(None, one) for one in SILENT],
    ],
    ids=lambda value: repr(value)[:24],
)
async def test_a_line_that_makes_no_sense_is_noted_and_the_peer_lives_on(agent, autojump_clock, kind, bad):
    async with agent.peer() as peer:
        agent.say(bad, line(id=1, result="fine"))
        assert await peer.request("m", {}) == "fine"
        assert peer.counts == ({kind: 1} if kind else {})
        assert len(peer.notes) == len(peer.counts)
        assert all(len(note) < 1000 for note in peer.notes)


@pytest.mark.parametrize(
    "printed",
    [
        b"\x1b[5 q",
        b"\x1b]0;host\x07",
        b"{} {x: 1} \xff\xfe",
        b"Welcome\n\x1b[5 q",
        b'{"id": {"id": ',
        b"x" * (GLUED_BYTES - 100),
    ],
    ids=lambda value: repr(value)[:24],
)
async def test_the_first_message_may_stand_behind_what_a_start_file_printed(agent, autojump_clock, printed):
    async with agent.peer() as peer:
        agent.say(printed + line(id=1, result={"id": 7, "result": "fine"}), line(method="n", params=1))
        assert await peer.request("initialize", {}) == {"id": 7, "result": "fine"}
        assert peer.counts == {"garbage": 1 + printed.count(b"\n")}
        await wait_all_tasks_blocked()
        assert agent.seen == [("n", 1)]


async def test_a_log_that_quotes_messages_is_none_of_them(agent, autojump_clock):
    async with agent.peer() as peer:
        agent.say(line(id=1, result="fine"), b"sent: " + line(method="session/update", params=1))
        assert await peer.request("initialize", {}) == "fine"
        agent.hang_up()
        await peer.closed.wait()
    assert (agent.seen, peer.counts) == ([], {"garbage": 1})


async def test_a_first_message_is_not_looked_for_without_end(agent, autojump_clock):
    """Neither deep in a line nor at every brace of it."""
    whole = line(method="session/update", params=1)
    async with agent.peer() as peer:
        agent.say(b"x" * GLUED_BYTES + whole, b'{"id": ' * GLUED_TRIES + whole)
        agent.hang_up()
        await peer.closed.wait()
    assert (agent.seen, peer.counts) == ([], {"garbage": 2})


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"result": 1, "error": None}, 1),
        ({"error": None}, None),
        ({"result": 1, "error": {"code": 5, "message": "no"}}, RpcError(5, "no")),
        ({"error": "text"}, RpcError(-32603, "text")),
        ({"error": {}}, RpcError(-32603, "The agent gave an error without a message")),
        (
            {"error": {"code": "x", "message": 7}},
            RpcError(-32603, "The agent gave an error without a message"),
        ),
    ],
)
async def test_odd_answers_are_read_as_what_they_most_likely_mean(agent, autojump_clock, answer, expected):
    async with agent.peer() as peer:
        agent.say(line(id=1, **answer))
        if isinstance(expected, RpcError):
            with pytest.raises(RpcError) as caught:
                await peer.request("m", {})
            assert (caught.value.code, str(caught.value)) == (expected.code, str(expected))
        else:
            assert await peer.request("m", {}) == expected


async def test_carriage_returns_are_white_space(agent, autojump_clock):
    async with agent.peer() as peer:
        agent.say(b'{"method":"a"}\r\n\r\n{"id":1,"result":2}\r\n')
        assert await peer.request("m", {}) == 2
    assert agent.seen == [("a", None)]


async def test_a_second_answer_to_the_same_request_is_ignored(agent, autojump_clock):
    async with agent.peer() as peer:
        agent.say(line(id=1, result="first"), line(id=1, result="second"), line(method="end"))
        assert await peer.request("m", {}) == "first"
        await wait_all_tasks_blocked()
        assert peer.counts == {"unknown_response": 1}


async def test_a_flood_of_answers_nobody_asked_for_is_only_counted(agent, autojump_clock):
    async with agent.peer() as peer:
        agent.say(*(line(id=n, result=n) for n in range(2, 20_002)), line(id=1, result="mine"))
        assert await peer.request("m", {}) == "mine"
        assert peer.counts == {"unknown_response": 20_000}
        assert len(peer.notes) == jsonrpc.NOTES


@pytest.mark.parametrize(
    ("last", "seen"), [(b'{"method":"whole"}', [("whole", None)]), (b'{"method":"ha', []), (b"", [])]
)
async def test_at_end_of_file_waiters_are_told_and_a_whole_last_line_still_counts(
    agent, autojump_clock, last, seen
):
    async with agent.peer() as peer:
        call = peer.start("m", {})
        agent.say(last)
        agent.hang_up()
        with pytest.raises(PeerClosed, match="the agent closed its output"):
            await call.result()
        assert peer.closed.is_set()
        with pytest.raises(PeerClosed, match="closed its output"):
            await peer.request("m", {})
        peer.notify("nobody", {})
    assert agent.seen == seen


async def test_a_line_over_the_bound_ends_the_peer_and_is_let_go_first(agent, autojump_clock):
    async with agent.peer(line_limit=1000) as peer:
        call = peer.start("m", {})
        agent.say(line(method="ok"), b"x" * 1001)
        with pytest.raises(PeerClosed, match="longer than 1000 bytes"):
            await call.result()
        assert peer._splitter.rest() == b""
    assert agent.seen == [("ok", None)]


async def test_a_line_just_under_64_mib_is_read(agent, autojump_clock):
    words = b"x" * (ACP_LINE - 1000)
    async with agent.peer() as peer:
        agent.say(b'{"method":"big","params":"' + words + b'"}\n', line(id=1, result=None))
        await peer.request("m", {})
    ((method, params),) = agent.seen
    assert method == "big"
    assert len(params) == len(words)


async def test_an_agent_that_stops_reading_does_not_stop_us_reading_it(autojump_clock):
    ours, theirs = stream_pair(limit=1000)
    agent = Agent(theirs)
    async with agent.peer() as peer:
        for _ in range(20):
            peer.start("m", "x" * 500)
        agent.say(*(line(id=n, method="ask") for n in range(50)), line(method="still here"))
        await wait_all_tasks_blocked()
        assert agent.seen == [("still here", None)]
        assert ours.peer.incoming


async def test_an_agent_that_asks_and_never_reads_the_answers_is_cut_off(autojump_clock):
    agent = Agent(stream_pair(limit=1000)[1])
    async with agent.peer() as peer:
        agent.say(*(line(id=n, method="ask") for n in range(20_000)))
        await peer.closed.wait()
        assert peer.reason == "the agent sends requests and does not read the answers"


async def test_a_broken_pipe_fails_what_was_not_written_and_still_reads_the_rest(agent, autojump_clock):
    async with agent.peer() as peer:
        written = peer.start("written", {})
        await agent.read()
        agent.stream.end()
        unwritten = peer.start("unwritten", {})
        with pytest.raises(PeerClosed, match="closed its input"):
            await unwritten.result()
        with pytest.raises(PeerClosed, match="closed its input"):
            await peer.request("later", {})
        agent.say(line(id=written.id, result="a last word"))
        assert await written.result() == "a last word"


async def test_sent_tells_when_a_request_is_written(autojump_clock):
    agent = Agent(stream_pair(limit=10)[1])
    async with agent.peer() as peer:
        first, second = peer.start("a", "x" * 100_000), peer.start("b", {})
        await wait_all_tasks_blocked()
        assert first.sent.is_set()
        assert not second.sent.is_set()
        await agent.read()
        await second.sent.wait()


async def test_closing_our_direction_writes_what_is_queued_first(agent, autojump_clock):
    async with agent.peer() as peer:
        peer.notify("last", {})
        await peer.close_output()
        assert (await agent.read())["method"] == "last"
        assert await agent.stream.receive_some() == b""
        with pytest.raises(PeerClosed, match="our direction is closed"):
            await peer.request("m", {})


async def test_leaving_the_block_ends_waiters_handlers_and_tasks(agent, autojump_clock):
    ended = []

    async def hold(_):
        try:
            await trio.sleep_forever()
        finally:
            ended.append("handler")

    agent.requests["hold"] = hold
    async with trio.open_nursery() as nursery, agent.peer() as peer:
        agent.say(line(id=1, method="hold"))

        async def ask():
            with pytest.raises(PeerClosed, match="closed by us"):
                await peer.request("m", {})
            ended.append("waiter")

        nursery.start_soon(ask)
        await wait_all_tasks_blocked()
    assert sorted(ended) == ["handler", "waiter"]


async def test_an_exception_of_the_block_comes_out_as_itself(agent, autojump_clock):
    with pytest.raises(RpcError, match="mine"):
        async with agent.peer():
            raise RpcError(1, "mine")


async def test_a_bug_in_a_handler_is_not_swallowed(agent, autojump_clock):
    async def broken(_):
        raise ZeroDivisionError

    agent.requests["broken"] = broken
    with pytest.RaisesGroup(ZeroDivisionError, flatten_subgroups=True):
        async with agent.peer():
            agent.say(line(id=1, method="broken"))
            await trio.sleep_forever()


async def test_a_file_name_that_is_no_text_can_be_sent(agent, autojump_clock):
    async with agent.peer() as peer:
        peer.notify("m", {"cwd": "/tmp/\udcff", "list": ["\udc80"]})
        assert (await agent.read())["params"] == {"cwd": "/tmp/?", "list": ["?"]}


async def test_what_nests_too_deep_to_be_sent_on_is_emptied_there(agent, autojump_clock):
    async def form(params):
        return params

    agent.requests["elicitation/create"] = form
    deep = b"[" * 900 + b"]" * 900
    head = b'{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"hi","schema":'
    async with agent.peer():
        agent.say(head + deep + b"}}\n")
        answer = await agent.read()
    assert (answer["id"], answer["result"]["message"]) == (7, "hi")
    assert answer["result"]["schema"][0][0] != []
