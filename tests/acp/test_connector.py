"""The connector over a scripted agent in memory: what each call sends, reads, and does when it goes wrong."""

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from hybridmux.acp.calls import AgentTimeout
from hybridmux.acp.jsonrpc import PeerClosed, RpcError
from hybridmux.acp.messages import selected
from hybridmux.acp.translate import Translator
from hybridmux.budgets import LIST_PAGES, Budgets
from hybridmux.errors import AgentFailed
from tests.acp.fake_agent import Fail, FakeAgent, Recorder, until_cancelled

TEXT = [{"type": "text", "text": "hello"}]


def answering(*answers):
    """A handler that gives one answer after the other, and then the last one again."""
    left = list(answers)

    async def handler(agent, params):
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return handler


@pytest.fixture
def agent() -> FakeAgent:
    return FakeAgent(steering=True)


@pytest.fixture
def handler() -> Recorder:
    return Recorder()


async def test_initialize_says_what_we_can_do_and_reads_what_they_can(agent, handler, autojump_clock):
    async with agent.connect(handler) as connector:
        result = await connector.initialize()
    (sent,) = agent.params("initialize")
    assert sent["protocolVersion"] == 1
    assert sent["clientCapabilities"] == {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
        "elicitation": {"form": {}},
        "session": {"configOptions": {"boolean": {}}, "compaction": {}},
    }
    assert (result.name, result.title, result.version) == ("fake-agent", "Fake Agent", "1.0")
    assert [result.can_load, result.can_resume, result.can_list, result.can_close] == [True] * 4
    assert [result.image, result.embedded_context, result.steering] == [True] * 3


@pytest.mark.parametrize("answer", [{"protocolVersion": 2}, {"protocolVersion": "1"}, {}, None, []])
async def test_another_protocol_version_is_refused(agent, handler, autojump_clock, answer):
    agent.handlers["initialize"] = answering(answer)
    async with agent.connect(handler) as connector:
        with pytest.raises(AgentFailed, match=r"fake-agent speaks ACP version .*, not 1"):
            await connector.initialize()


def page(*ids, cursor=None, cwd="/"):
    found = [{"sessionId": one, "cwd": cwd, "updatedAt": f"2026-01-0{n + 1}"} for n, one in enumerate(ids)]
    return {"sessions": found, "nextCursor": cursor}


async def test_list_follows_cursors_past_empty_pages_and_sorts_newest_first(agent, handler, autojump_clock):
    agent.handlers["session/list"] = answering(page("a", cursor="1"), page(cursor="2"), page("b", "c"))
    async with agent.connect(handler) as connector:
        found = await connector.list_sessions()
    assert [one.session_id for one in found] == ["c", "a", "b"]
    assert agent.params("session/list") == [
        {"cwd": "/"}, {"cwd": "/", "cursor": "1"}, {"cwd": "/", "cursor": "2"}
    ]  # fmt: skip


async def test_list_ends_with_what_is_looked_for(agent, handler, autojump_clock):
    pages = {None: page("a", cursor="2"), "2": page("b", cursor="3"), "3": page("c")}

    async def answer(agent, params):
        return pages[params.get("cursor")]

    async with agent.connect(handler) as connector:
        agent.handlers["session/list"] = answer
        assert {one.session_id for one in await connector.list_sessions("b")} == {"a", "b"}
        assert {one.session_id for one in await connector.list_sessions("z")} == {"a", "b", "c"}


async def test_a_list_whose_cursor_repeats_ends_and_one_without_an_end_is_refused(
    agent, handler, autojump_clock
):
    count = iter(range(10**6))

    async def endless(agent, params):
        return page(cursor=str(next(count)))

    async with agent.connect(handler) as connector:
        agent.handlers["session/list"] = answering(page("a", cursor="same"))
        assert len(await connector.list_sessions()) == 1
        assert len(agent.params("session/list")) == 2
        agent.handlers["session/list"] = endless
        with pytest.raises(AgentFailed, match=f"more than {LIST_PAGES} pages"):
            await connector.list_sessions()
        assert len(agent.params("session/list")) == 2 + LIST_PAGES


async def test_list_matches_folders_by_their_real_path(agent, handler, tmp_path, autojump_clock):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    answer = {
        "sessions": [
            {"sessionId": n, "cwd": str(one)} for n, one in (("a", link), ("b", real), ("c", tmp_path))
        ]
    }
    agent.handlers["session/list"] = answering(answer)
    async with agent.connect(handler) as connector:
        connector._cwd = str(real)
        assert {one.session_id for one in await connector.list_sessions()} == {"a", "b"}


async def test_a_session_whose_folder_is_no_path_is_of_another_folder(agent, handler, autojump_clock):
    folders = {"nul": "/a\0b", "long": "/" + "x" * 5000, "here": "/", "none": None}
    sessions = [{"sessionId": name, "cwd": cwd} for name, cwd in folders.items()]
    agent.handlers["session/list"] = answering({"sessions": sessions})
    async with agent.connect(handler) as connector:
        assert {one.session_id for one in await connector.list_sessions()} == {"here", "none"}


@pytest.mark.parametrize(
    "answer", [None, [], {}, {"sessions": None}, {"sessions": [None, 1, {"sessionId": 5}, {}]}]
)
async def test_odd_lists_are_empty_ones(agent, handler, autojump_clock, answer):
    agent.handlers["session/list"] = answering(answer)
    async with agent.connect(handler) as connector:
        assert await connector.list_sessions() == []


async def test_a_new_session_is_prompted(agent, handler, autojump_clock):
    async with agent.connect(handler) as connector:
        session_id, _ = await connector.new_session()
        result = await connector.prompt(TEXT)
    assert session_id == "s-2"
    assert (result.stop_reason, result.usage) == ("end_turn", {"totalTokens": 7})
    assert agent.params("session/new") == [{"cwd": "/", "mcpServers": []}]
    assert agent.params("session/prompt") == [{"sessionId": "s-2", "prompt": TEXT}]
    assert handler.updates[0]["content"]["text"] == "echo: hello"


async def test_a_session_without_an_id_is_a_failure(agent, handler, autojump_clock):
    agent.handlers["session/new"] = answering({})
    async with agent.connect(handler) as connector:
        with pytest.raises(AgentFailed, match="no id"):
            await connector.new_session()


async def test_load_has_handled_the_whole_history_when_it_returns(agent, handler, autojump_clock):
    agent.sessions["s-1"] = [{"sessionUpdate": "plan", "n": n} for n in range(5000)]
    async with agent.connect(handler) as connector:
        await connector.load_session("s-1")
        assert [one["n"] for one in handler.updates] == list(range(5000))
        assert connector.session_id == "s-1"


async def test_load_may_take_long_as_long_as_something_comes(agent, handler, autojump_clock):
    async def slow(agent, params):
        for n in range(10):
            await trio.sleep(50)
            agent.update({"sessionUpdate": "plan", "n": n})
        await trio.sleep(50)
        return {}

    agent.handlers["session/load"] = slow
    async with agent.connect(handler) as connector:
        await connector.load_session("s-1")
    assert trio.current_time() == pytest.approx(550, abs=5)
    assert len(handler.updates) == 10


async def test_load_that_is_silent_or_endless_fails(agent, handler, autojump_clock):
    async def endless(agent, params):
        while True:
            agent.update({"sessionUpdate": "plan"})
            await trio.sleep(1)

    budgets = Budgets(loading_idle=3, loading_total=100)
    async with agent.connect(handler, budgets) as connector:
        del agent.handlers["session/load"]
        with pytest.raises(AgentTimeout, match="sent nothing for 3 s while loading"):
            await connector.load_session("s-1")
        assert trio.current_time() == pytest.approx(3)
        agent.handlers["session/load"] = endless
        with pytest.raises(AgentTimeout, match="did not answer session/load within 100 s"):
            await connector.load_session("s-1")


CALLS = {
    "session/list": lambda c: c.list_sessions(),
    "session/new": lambda c: c.new_session(),
    "session/close": lambda c: c.close_session(),
    "session/set_config_option": lambda c: c.set_config_option("a", "b"),
    "_session/steering": lambda c: c.steer(TEXT),
    "session/resume": lambda c: c.resume_session("s-1"),
    "initialize": lambda c: c.initialize(),
}


@pytest.mark.parametrize("method", CALLS)
async def test_every_call_has_a_deadline_passes_errors_on_and_survives_a_dead_agent(
    agent, handler, autojump_clock, method
):
    call = CALLS[method]
    async with agent.connect(handler, Budgets(rpc=5, starting=5, loading_idle=5)) as connector:
        agent.handlers[method] = answering(Fail(-32000, "Authentication required"))
        with pytest.raises(RpcError, match="Authentication required"):
            await call(connector)
        del agent.handlers[method]
        with pytest.raises(AgentTimeout, match=f"fake-agent did not answer {method} within 5 s"):
            await call(connector)
        agent.crash(3, "boom\n")
        with pytest.raises(PeerClosed, match="fake-agent ended with exit status 3: boom"):
            await call(connector)


async def test_cancel_ends_the_turn_and_is_sent_only_while_one_runs(agent, handler, autojump_clock):
    agent.handlers["session/prompt"] = until_cancelled()
    async with agent.connect(handler) as connector, trio.open_nursery() as nursery:
        results = []

        async def prompt():
            results.append(await connector.prompt(TEXT))

        assert await connector.cancel() is False
        nursery.start_soon(prompt)
        await wait_all_tasks_blocked()
        assert connector.prompting
        assert await connector.cancel() is True
        await wait_all_tasks_blocked()
        assert not connector.prompting
        assert await connector.cancel() is False
    assert [one.stop_reason for one in results] == ["cancelled"]
    assert agent.methods().count("session/cancel") == 1


async def test_an_abandoned_prompt_still_counts_as_running(agent, handler, autojump_clock):
    agent.handlers["session/prompt"] = until_cancelled()
    async with agent.connect(handler) as connector:
        with trio.move_on_after(1):
            await connector.prompt(TEXT)
        assert connector.prompting
        assert await connector.cancel() is True
        await wait_all_tasks_blocked()
        assert not connector.prompting
        assert connector.peer.counts == {}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(None, "end_turn"), ({"stopReason": 5}, "end_turn"), ({"stopReason": "refusal"}, "refusal")],
)
async def test_stop_reasons(agent, handler, autojump_clock, answer, reason):
    agent.handlers["session/prompt"] = answering(answer)
    async with agent.connect(handler) as connector:
        assert (await connector.prompt(TEXT)).stop_reason == reason


@pytest.mark.parametrize("given", [selected("yes"), {"outcome": selected("yes")}])
async def test_permission_requests_are_answered_by_the_handler(agent, autojump_clock, given):
    handler = Recorder(permission=given)
    async with agent.connect(handler):
        options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
        answer = await agent.ask(
            "session/request_permission", {"toolCall": {"toolCallId": "t"}, "options": options}
        )
    assert answer == {"outcome": {"outcome": "selected", "optionId": "yes"}}
    assert handler.asked[0]["options"] == options


async def test_forms_are_answered_by_the_handler_and_urls_refused(agent, autojump_clock):
    handler = Recorder(form={"action": "accept", "content": {"q": "a"}})
    async with agent.connect(handler):
        form = {"mode": "form", "message": "?", "requestedSchema": {"type": "object"}}
        assert await agent.ask("elicitation/create", form) == {"action": "accept", "content": {"q": "a"}}
        with pytest.raises(Fail, match="Only forms"):
            await agent.ask("elicitation/create", {"mode": "url", "url": "http://x"})
    assert [one["message"] for one in handler.asked] == ["?"]


@pytest.mark.parametrize("method", ["session/request_permission", "elicitation/create"])
async def test_requests_without_params_are_refused(agent, handler, autojump_clock, method):
    async with agent.connect(handler):
        agent.say(id=9, method=method, params=[1])
        await wait_all_tasks_blocked()
    assert agent.heard[-1]["error"]["code"] == -32602


@pytest.mark.parametrize(
    "method", ["fs/write_text_file", "fs/read_text_file", "terminal/create", "session/unheard"]
)
async def test_files_and_terminals_are_refused_at_once(agent, handler, autojump_clock, method):
    async with agent.connect(handler):
        with pytest.raises(Fail, match="Method not found"):
            await agent.ask(method, {"path": "/etc/passwd"})


async def test_other_notifications_are_counted_and_ignored(agent, handler, autojump_clock):
    async with agent.connect(handler) as connector:
        agent.say(method="_auth/status_update", params={})
        agent.say(method="session/update", params=[])
        for n in range(100):
            agent.say(method=f"_x/{n}")
        await connector.initialize()
    assert connector.ignored["_auth/status_update"] == 1
    assert len(connector.ignored) <= 65
    assert handler.updates == []


async def test_options_are_set_by_their_kind(agent, handler, autojump_clock):
    modes = {"currentModeId": "ask", "availableModes": [{"id": "ask"}, {"id": "code"}]}
    models = {"currentModelId": "m", "availableModels": [{"modelId": "m"}, {"modelId": "n"}]}
    async with agent.connect(handler) as connector:
        agent.handlers["session/new"] = answering({"sessionId": "a", "configOptions": [], "modes": modes})
        await connector.new_session()
        await connector.set_config_option("mode", "code")
        await connector.set_config_option("fast", True)
        older = {"sessionId": "b", "modes": modes, "models": models}
        agent.handlers["session/new"] = answering(older)
        await connector.new_session()
        await connector.set_config_option("mode", "code")
        await connector.set_config_option("model", "n")
    assert agent.params("session/set_config_option") == [
        {"sessionId": "a", "configId": "mode", "value": "code"},
        {"sessionId": "a", "configId": "fast", "type": "boolean", "value": True},
    ]
    assert agent.params("session/set_mode") == [{"sessionId": "b", "modeId": "code"}]
    assert agent.params("session/set_model") == [{"sessionId": "b", "modelId": "n"}]
    translator = Translator()
    translator.config_from_result(older)
    events = [event for update in handler.updates for event in translator.feed(update)]
    assert [one["value"] for one in events[-1]["options"]] == ["code", "n"]


async def test_steering(agent, handler, autojump_clock):
    async with agent.connect(handler) as connector:
        await connector.load_session("s-1")
        assert await connector.steer(TEXT, idle_behavior="promptRequired") == "injected"
        agent.handlers["_session/steering"] = answering(
            {"outcome": "promptRequired", "reason": "noRunningTurn"}
        )
        assert await connector.steer(TEXT) == "promptRequired"
    meta = {"_meta": {"steering": {"idleBehavior": "promptRequired"}}}
    assert agent.params("_session/steering") == [
        {"sessionId": "s-1", "prompt": TEXT, **meta}, {"sessionId": "s-1", "prompt": TEXT}
    ]  # fmt: skip


# --- ends ---


@pytest.mark.parametrize(
    ("code", "words", "reason"),
    [
        (0, "", "fake-agent ended with exit status 0"),
        (1, "Error: \x1b[31mno key\x1b[0m\n\n", "fake-agent ended with exit status 1: Error: no key"),
        (-9, "", "fake-agent ended with SIGKILL"),
    ],
)
async def test_the_end_of_the_agent_is_told_with_its_status_and_last_words(
    agent, handler, autojump_clock, code, words, reason
):
    async with agent.connect(handler) as connector:
        agent.crash(code, words)
        assert await connector.wait_closed() == reason


async def test_a_turn_ends_when_the_agent_dies_in_it(agent, handler, autojump_clock):
    del agent.handlers["session/prompt"]
    async with agent.connect(handler) as connector, trio.open_nursery() as nursery:

        async def prompt():
            with pytest.raises(PeerClosed, match="SIGKILL: out of memory"):
                await connector.prompt(TEXT)

        nursery.start_soon(prompt)
        await agent.expect("session/prompt")
        agent.crash(-9, "out of memory")


async def test_an_agent_that_closes_its_output_and_lives_on_counts_as_gone(agent, handler, autojump_clock):
    async with agent.connect(handler) as connector:
        agent.hang_up()
        assert await connector.wait_closed() == "fake-agent closed its output"
        with pytest.raises(PeerClosed, match="closed its output"):
            await connector.new_session()


async def test_an_agent_whose_output_is_held_open_after_its_end_counts_as_gone(
    agent, handler, autojump_clock
):
    async with agent.connect(handler) as connector:
        agent.program.exit_code = 1
        agent.program._exited.set()
        assert await connector.wait_closed() == "fake-agent ended with exit status 1"
        assert trio.current_time() == pytest.approx(1)
        with pytest.raises(PeerClosed):
            await connector.new_session()


async def test_an_agent_that_talks_nonsense_without_end_is_named(agent, handler, autojump_clock):
    async with agent.connect(handler) as connector:
        for _ in range(70):
            agent.say_raw(b"x" * 2**20)
        assert await connector.wait_closed() == f"fake-agent: the agent sent a line longer than {2**26} bytes"


async def test_stop_closes_the_input_and_the_agent_leaves(agent, handler, autojump_clock):
    async with agent.connect(handler) as connector:
        report = await connector.stop()
        assert report.how == "exited"
        assert trio.current_time() == 0
        assert await connector.wait_closed() == "fake-agent ended with exit status 0"
        assert (await connector.stop()).how == "exited"


@pytest.mark.parametrize("deaf", [False, True])
async def test_stop_goes_on_to_signals_after_one_step(handler, autojump_clock, deaf):
    agent = FakeAgent(leaves_at_eof=False)
    agent.deaf = deaf
    async with agent.connect(handler, Budgets(stopping_step=4)) as connector:
        agent.stream.limit = 10
        connector.peer.notify("x", "y" * 100)
        connector.peer.notify("x", "y" * 100)
        report = await connector.stop()
        assert report.how == "SIGTERM"
        assert trio.current_time() == pytest.approx(4)


async def test_kill_does_not_wait(handler, autojump_clock):
    agent = FakeAgent(leaves_at_eof=False)
    async with agent.connect(handler) as connector:
        assert (await connector.kill()).how == "SIGKILL"
        assert await connector.wait_closed() == "fake-agent ended with SIGKILL"
        assert trio.current_time() == 0
