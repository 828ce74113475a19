"""What a profile says of its agent's chat, over scripted sides: options, commands, forms, ends, logins."""

from functools import partial

import pytest
import trio
from attrs import evolve
from trio.testing import wait_all_tasks_blocked

from hybridmux.agents import claudecode, codex, omp
from hybridmux.agents.demo_profile import PROFILE
from hybridmux.conversation import lifecycle, resuming, switch
from hybridmux.conversation.moves import reconnect
from hybridmux.conversation.phases import Step
from hybridmux.conversation.sides import AuthRequired, PromptOutcome, SideFailed
from hybridmux.conversation.view import chat_state
from hybridmux.errors import AgentFailed, BadRequest

from .play import play
from .test_turns import answer
from .world import ID, World

DEFAULTS = {"model": "small", "effort": "low", "mode": "ask", "fast": False}
CHOSEN = {"mode": "plan", "effort": "high", "model": "large", "fast": True}


def sets(world: World) -> list[str]:
    """The options that were set, in order."""
    return [what.removeprefix("set ") for what in world.happened if what.startswith("set ")]


def values(p) -> dict:
    """What the chat state shows."""
    return {option["id"]: option["value"] for option in chat_state(p.session)["configOptions"]}


async def to_chat(p):
    return await p.session.operate("switch", partial(switch.to_chat, p.session, None))


async def to_terminal(p):
    return await p.session.operate("switch", partial(switch.to_terminal, p.session))


async def resume(p, place: str):
    await p.session.operate("resume", partial(resuming.resume, p.session, place, None))


# --- options ---


@pytest.mark.parametrize("can_load", [True, False])
@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        (claudecode.PROFILE, ["model=large", "effort=high"]),
        (codex.PROFILE, ["mode=plan"]),
        (omp.PROFILE, ["mode=plan"]),
        (PROFILE, ["effort=high", "fast=True"]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
async def test_a_switch_sets_again_what_the_agent_loses(autojump_clock, profile, expected, can_load):
    profile = evolve(PROFILE, reapply=profile.reapply)
    async with play(World(options=DEFAULTS, can_load=can_load), profile=profile, config=CHOSEN) as p:
        await to_chat(p)
        assert sets(p.world) == expected
        names = {each.partition("=")[0] for each in expected}
        assert values(p) == DEFAULTS | {name: CHOSEN[name] for name in names}


@pytest.mark.parametrize("can_resume", [True, False])
async def test_a_new_connector_gets_the_options_again(autojump_clock, can_resume):
    async with play(World(options=DEFAULTS, can_resume=can_resume), "acp") as p:
        await p.session.set_option("effort", "high")
        p.sides.chat.leave()
        await wait_all_tasks_blocked()
        p.world.happened.clear()
        await p.session.turns.prompt("hello")
        await wait_all_tasks_blocked()
        assert sets(p.world) == ["effort=high"]
        assert p.world.happened.index("set effort=high") < p.world.happened.index("prompt hello")
        assert values(p)["effort"] == "high"


async def test_a_resume_sets_them_again(autojump_clock):
    async with play(World(options=DEFAULTS), "acp") as p:
        await p.session.set_option("fast", True)
        await p.session.operate("close", partial(lifecycle.close, p.session))
    async with play(p.world, record=p.record) as again:
        await resume(again, "acp")
        assert sets(p.world) == ["fast=True"]
        assert values(again)["fast"] is True


async def test_what_is_not_offered_or_as_wanted_already_is_left_alone(autojump_clock):
    offered = {"effort": "high", "mode": "ask"}
    async with play(World(options=offered), config=CHOSEN) as p:
        await to_chat(p)
        assert sets(p.world) == []
        assert p.events("notice") == []


async def test_a_refusal_is_a_notice_and_the_others_are_set_all_the_same(autojump_clock):
    async with play(World(options=DEFAULTS, refused={"effort"}), config=CHOSEN) as p:
        assert (await to_chat(p)).side == "acp"
        assert sets(p.world) == ["effort=high", "fast=True"]
        (notice,) = p.events("notice")
        assert notice["code"] == "option_not_kept"
        assert notice["text"] == "effort could not be set to high again: no such value"
        assert values(p)["effort"] == "low"


# --- commands ---


@pytest.mark.parametrize("moment", ["live", "loaded"])
async def test_hidden_commands_are_in_no_state_and_in_no_event(autojump_clock, moment):
    names = ["login", "compact", "logout", "/login", "login-help"]
    commands = [{"name": name, "description": name} for name in names]
    update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
    profile = evolve(PROFILE, hidden_commands=claudecode.PROFILE.hidden_commands)
    async with play(World(), "tui" if moment == "loaded" else "acp", profile=profile) as p:
        if moment == "loaded":
            await to_chat(p)
        p.sides.chat.sink({"update": update})
        (event,) = p.events("commands.set")
        assert [one["name"] for one in event["commands"]] == ["compact", "login-help"]
        assert chat_state(p.session)["commands"] == event["commands"]


LEAVING = evolve(PROFILE, leaving_commands=claudecode.PROFILE.leaving_commands)


@pytest.mark.parametrize("text", ["/clear", "/new", " /reset all of it", "/Clear", "/clear\nnow"])
async def test_a_command_that_leaves_the_conversation_is_not_sent(autojump_clock, text):
    async with play(World(prompt="open"), "acp", profile=LEAVING) as p:
        turns = p.session.turns
        for _ in range(2):  # with an idle agent, and with a turn that runs
            with pytest.raises(BadRequest, match="leaves this conversation"):
                await turns.prompt(text)
            if not turns.running:
                await turns.prompt("hello")
        item = await turns.prompt("waits")
        with pytest.raises(BadRequest, match="leaves this conversation"):
            await turns.waiting.edit(item.id, text, up=False)
        assert p.world.prompts == ["hello"]
        assert [one.text for one in turns.queue.items] == ["waits"]


@pytest.mark.parametrize("text", ["clear", "/clearance", "what does /clear do?", "//clear"])
async def test_what_only_looks_like_one_is_sent(autojump_clock, text):
    async with play(World(), "acp", profile=LEAVING) as p:
        await p.turn_in_chat(text)
        assert p.world.prompts == [text]


# --- forms that ask for permission ---

WRITE = {
    "message": "Allow tool: write\nPath: /home/user/proj/w.txt",
    "requestedSchema": {
        "type": "object",
        "properties": {"value": {"type": "string", "enum": ["Approve", "Deny"]}},
        "required": ["value"],
    },
}


@pytest.mark.parametrize("mode", ["auto", "ask"])
@pytest.mark.parametrize(
    ("said", "result"),
    [
        (answer("selected", "Approve"), {"action": "accept", "content": {"value": "Approve"}}),
        (answer("selected", "Deny"), {"action": "accept", "content": {"value": "Deny"}}),
        (answer("cancelled"), {"action": "cancel"}),
    ],
    ids=["allow", "deny", "cancel"],
)
async def test_omp_asks_by_a_form_and_a_permission_card_is_answered(autojump_clock, mode, said, result):
    profile = evolve(PROFILE, form_permission=omp.PROFILE.form_permission)
    async with play(World(), "acp", profile=profile) as p, trio.open_nursery() as nursery:
        asking, results = p.session.turns.asking, []
        asking.set_mode(mode)

        async def ask() -> None:
            results.append(await asking.form(WRITE))

        nursery.start_soon(ask)
        await wait_all_tasks_blocked()
        (request,) = chat_state(p.session)["requests"]
        assert request["kind"] == "permission"
        assert request["title"] == WRITE["message"]
        assert [(o["optionId"], o["kind"]) for o in request["options"]] == [
            ("Approve", "allow_once"),
            ("Deny", "reject_once"),
        ]
        assert p.events("request.open")[0].items() >= request.items()
        asking.set_mode("auto")  # grants what waits, but never a form
        await wait_all_tasks_blocked()
        assert results == []
        for wrong in (answer("selected", "approve"), answer("accept")):
            with pytest.raises(BadRequest):
                asking.answer(request["requestId"], wrong)
        asking.answer(request["requestId"], said)
        await wait_all_tasks_blocked()
        assert results == [result]


async def test_a_real_form_of_omp_stays_a_form(autojump_clock):
    profile = evolve(PROFILE, form_permission=omp.PROFILE.form_permission)
    form = {"message": "Which one?", "requestedSchema": {"properties": {"q0": {"type": "string"}}}}
    async with play(World(), "acp", profile=profile) as p, trio.open_nursery() as nursery:
        nursery.start_soon(p.session.turns.asking.form, form)
        await wait_all_tasks_blocked()
        (request,) = p.session.turns.asking.open_requests()
        assert request["kind"] == "form"
        assert request["schema"] == form["requestedSchema"]
        p.session.turns.asking.withdraw()


async def test_a_cancelled_turn_withdraws_it_as_a_form(autojump_clock):
    profile = evolve(PROFILE, form_permission=omp.PROFILE.form_permission)
    async with play(World(prompt="open"), "acp", profile=profile) as p, trio.open_nursery() as nursery:
        results = []

        async def ask() -> None:
            results.append(await p.session.turns.asking.form(WRITE))

        await p.session.turns.prompt("write it")
        nursery.start_soon(ask)
        await wait_all_tasks_blocked()
        await p.session.turns.cancel()
        await wait_all_tasks_blocked()
        assert results == [{"action": "cancel"}]
        assert [e["outcome"] for e in p.events("request.close")] == ["cancelled"]


# --- turns that fail and say that they ended well ---


class Chat:
    """Puts another prompt into a scripted chat: what is said in a turn, and how it ends."""

    def __init__(self, p, updates: list[dict], *, usage: dict | None = None, stop: str = "end_turn") -> None:
        self.p, self.updates = p, updates
        self.outcome = PromptOutcome(stop_reason=stop, usage=usage)
        p.sides.chat.prompt = self.prompt

    async def prompt(self, blocks, sent) -> PromptOutcome:
        sent()
        await trio.lowlevel.checkpoint()
        for update in self.updates:
            self.p.sides.chat.sink({"update": update})
        return self.outcome


def said(text: str, message_id: str | None = None) -> dict:
    own = {"messageId": message_id} if message_id else {}
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}, **own}


def status(kind: str, **more) -> dict:
    meta = {"codex": {"threadStatus": {"type": kind}, **more}}
    return {"sessionUpdate": "session_info_update", "_meta": meta}


FAILED = "400 fake failure 400\nfake failure 400 (type=api_error)"
TOOL = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "ls"}
USED = {"totalTokens": 110}


async def ended(p, updates: list[dict], **kwargs) -> dict:
    """The end of a turn with these updates."""
    Chat(p, updates, **kwargs)
    await p.session.turns.prompt("go")
    await wait_all_tasks_blocked()
    return p.events("turn.end")[-1]


@pytest.mark.parametrize(
    ("updates", "usage", "error"),
    [
        ([said(FAILED, "a")], None, FAILED),
        ([said(FAILED[:2], "a"), said(FAILED[2:], "a")], None, FAILED),
        ([said("400 apples make a good cake.", "a")], USED, None),
        ([said("There are 400 apples.", "a")], None, None),
        ([said("All is well.", "a"), said(FAILED, "b")], None, None),
        ([], None, None),
    ],
)
async def test_omp_says_an_error_as_its_only_text(autojump_clock, updates, usage, error):
    profile = evolve(PROFILE, failed_answer=omp.PROFILE.failed_answer)
    async with play(World(), "acp", profile=profile) as p:
        end = await ended(p, updates, usage=usage)
        assert end["stopReason"] == ("error" if error else "end_turn")
        assert end.get("error") == error


async def test_only_where_the_profile_says_so(autojump_clock):
    async with play(World(), "acp") as p:
        assert (await ended(p, [said(FAILED, "a")]))["stopReason"] == "end_turn"


@pytest.mark.parametrize(
    ("updates", "error"),
    [
        (
            [said("Warning: …\n\n"), status("active"), status("systemError"), said("429 Too Many\n\n")],
            "429 Too Many",
        ),
        ([TOOL, status("systemError", error={"message": "no quota"})], "no quota"),
        ([status("systemError")], "the agent reports a system error"),
        ([said("fine"), status("active"), status("idle")], None),
    ],
)
async def test_codex_says_an_error_by_its_thread_status(autojump_clock, updates, error):
    async with play(World(), "acp") as p:
        end = await ended(p, updates)
        assert end["stopReason"] == ("error" if error else "end_turn")
        assert end.get("error") == error
        assert (await ended(p, [said("better now")]))["stopReason"] == "end_turn"


async def test_a_failed_turn_pauses_the_queue(autojump_clock):
    async with play(World(), "acp") as p:
        Chat(p, [status("systemError"), said("down")])
        await p.session.turns.prompt("one")
        await p.session.turns.prompt("two")
        await wait_all_tasks_blocked()
        assert p.session.turns.queue.paused
        assert [item.text for item in p.session.turns.queue.items] == ["two"]


async def test_a_cancelled_turn_is_cancelled_whatever_the_agent_says_of_it(autojump_clock):
    async with play(World(), "acp") as p:
        end = await ended(p, [status("systemError")], stop="cancelled")
        assert end["stopReason"] == "cancelled"


# --- logins ---

LOGIN = "Authentication required: log in to the agent in a terminal, then try again"
NO_LOGIN = AuthRequired("Authentication required")


async def test_a_chat_that_cannot_begin_without_a_login_says_where_to_log_in(autojump_clock):
    with pytest.raises(BaseExceptionGroup) as caught:
        async with play(World(new=NO_LOGIN), "acp"):
            pass
    (refused,) = caught.value.exceptions
    assert (refused.status, str(refused)) == (502, LOGIN)


@pytest.mark.parametrize("moment", ["list_", "load"])
async def test_a_switch_that_needs_a_login_stays_and_says_so_until_it_works(autojump_clock, moment):
    async with play(World()) as p:
        setattr(p.world, moment, NO_LOGIN)
        with pytest.raises(AgentFailed, match=LOGIN):
            await to_chat(p)
        assert p.session.position.step is Step.TUI
        assert chat_state(p.session)["authRequired"] is True
        setattr(p.world, moment, "ok")
        await to_chat(p)
        assert chat_state(p.session)["authRequired"] is False


async def test_a_prompt_that_needs_a_login_ends_its_turn_with_that(autojump_clock):
    async with play(World(prompt=NO_LOGIN), "acp") as p:
        await p.session.turns.prompt("hello")
        await wait_all_tasks_blocked()
        assert p.events("turn.end")[0]["stopReason"] == "auth_required"
        assert p.events("turn.end")[0]["error"] == LOGIN
        assert chat_state(p.session)["authRequired"] is True
        p.world.prompt = "ok"
        await p.session.turns.prompt("hello again")
        await wait_all_tasks_blocked()
        assert chat_state(p.session)["authRequired"] is False


async def test_a_connector_that_comes_back_without_a_login(autojump_clock):
    async with play(World(), "acp") as p:
        p.sides.chat.leave()
        await wait_all_tasks_blocked()
        p.world.resume = NO_LOGIN
        with pytest.raises(SideFailed, match=LOGIN):
            await p.session.set_option("model", "large")
        assert chat_state(p.session)["authRequired"] is True
        await reconnected(p)
        assert chat_state(p.session)["authRequired"] is False


async def reconnected(p) -> None:
    """Somebody has logged in."""
    p.world.resume = "ok"
    await reconnect(p.session)


async def test_a_resume_to_the_terminal_does_not_need_a_login(autojump_clock):
    async with play(World()) as p:
        await p.session.operate("close", partial(lifecycle.close, p.session))
    p.world.list_ = NO_LOGIN
    async with play(p.world, record=p.record) as again:
        await resume(again, "tui")
        assert again.session.position.step is Step.TUI
        assert again.sides.tui.session_id == ID
        with pytest.raises(AgentFailed, match=LOGIN):
            await to_chat(again)


async def test_a_resume_to_the_chat_needs_one(autojump_clock):
    async with play(World()) as p:
        await p.session.operate("close", partial(lifecycle.close, p.session))
    p.world.list_ = NO_LOGIN
    async with play(p.world, record=p.record) as again:
        with pytest.raises(AgentFailed, match=LOGIN):
            await resume(again, "acp")
