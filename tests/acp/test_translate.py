"""Updates to events: one rule each, and that nothing an agent can say breaks it or makes it grow."""

from itertools import pairwise

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridmux.acp.fold import fold
from hybridmux.acp.translate import Translator
from hybridmux.budgets import EVENT_TEXT, MESSAGES_TRACKED, TEXT_FIELD, TOOLS_TRACKED


def chunk(role: str, words, message_id=None) -> dict:
    content = {"type": "text", "text": words} if isinstance(words, str) else words
    more = {"messageId": message_id} if message_id is not None else {}
    return {"sessionUpdate": f"{role}_chunk", "content": content, **more}


def agent(words, message_id=None) -> dict:
    return chunk("agent_message", words, message_id)


def tool(tool_id="t1", **fields) -> dict:
    return {"sessionUpdate": "tool_call", "toolCallId": tool_id, **fields}


def change(tool_id="t1", **fields) -> dict:
    return {"sessionUpdate": "tool_call_update", "toolCallId": tool_id, **fields}


def translate(*updates) -> list[dict]:
    translator = Translator()
    return [event for update in updates for event in translator.feed(update)]


def ids(*updates) -> list[str]:
    return [one["messageId"] for one in translate(*updates) if one["type"] == "message.append"]


def only(*updates) -> dict:
    (event,) = translate(*updates)
    return event


# --- messages ---


def test_a_chunk_appends_to_the_message_of_its_id():
    assert translate(agent("Hel", "a"), agent("lo", "a")) == [
        {
            "type": "message.append",
            "messageId": "a",
            "role": "agent",
            "content": {"type": "text", "text": part},
        }
        for part in ("Hel", "lo")
    ]


def test_the_params_around_an_update_are_accepted_too():
    assert translate({"sessionId": "s", "update": agent("x", "a")}) == translate(agent("x", "a"))


def test_chunks_of_one_role_without_an_id_share_a_made_up_one():
    assert ids(agent("a"), agent("b"), chunk("agent_thought", "c"), agent("d")) == [
        "m-1",
        "m-1",
        "m-2",
        "m-3",
    ]


@pytest.mark.parametrize(
    ("between", "same"),
    [
        (tool(), False),
        (change(status="completed"), False),
        (agent("other", "given"), False),
        ({"sessionUpdate": "usage_update", "used": 1}, True),
        ({"sessionUpdate": "plan", "entries": []}, True),
        ({"sessionUpdate": "unheard_of"}, True),
    ],
)
def test_what_breaks_a_run_of_chunks_without_an_id(between, same):
    first, *_, last = ids(agent("a"), between, agent("b"))
    assert (first == last) is same


def test_a_new_turn_breaks_the_run():
    translator = Translator()
    first = translator.feed(agent("late warning"))
    sent = translator.user_message("next")
    second = translator.feed(agent("warning"))
    assert len({one["messageId"] for one in first + sent + second}) == 3


def test_an_id_that_serves_two_roles_makes_two_messages():
    thought, said = translate(chunk("agent_thought", "hm", "x"), agent("so", "x"))
    assert (thought["messageId"], said["messageId"]) == ("x", "x:agent")


BLOCKS = [
    (
        {"type": "image", "mimeType": "image/png", "data": "AAAA"},
        {"type": "image", "mimeType": "image/png", "size": 3},
    ),
    ({"type": "image", "data": "AAA="}, {"type": "image", "mimeType": "application/octet-stream", "size": 2}),
    (
        {"type": "text", "text": "[@image](data:image/png;base64,AAAAAA==)"},
        {"type": "image", "mimeType": "image/png", "size": 4},
    ),
    (
        {
            "type": "resource_link",
            "uri": "file:///a/b.txt",
            "name": "b.txt",
            "mimeType": "text/plain",
            "size": 9,
        },
        {"type": "resource", "name": "b.txt", "mimeType": "text/plain", "size": 9},
    ),
    (
        {
            "type": "resource",
            "resource": {"uri": "file:///a/b.txt", "text": "grüße", "mimeType": "text/plain"},
        },
        {"type": "resource", "name": "b.txt", "mimeType": "text/plain", "size": 7},
    ),
    (
        {"type": "resource", "resource": {"uri": "file:///a/c/", "blob": "AAAA"}},
        {"type": "resource", "name": "c", "mimeType": "application/octet-stream", "size": 3},
    ),
    ({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}, {"type": "unsupported", "was": "audio"}),
    ({"type": "hologram"}, {"type": "unsupported", "was": "hologram"}),
    ({"type": "text"}, {"type": "unsupported", "was": "text"}),
    (None, {"type": "unsupported", "was": "unknown"}),
    ("bare", {"type": "text", "text": "bare"}),
]


@pytest.mark.parametrize(("block", "content"), BLOCKS)
def test_content_blocks(block, content):
    assert only(agent(block, "a"))["content"] == content


# --- bounds ---


def test_a_long_text_is_cut_between_characters_and_says_so():
    content = only(agent("é" * TEXT_FIELD, "a"))["content"]
    assert content["truncated"] is True
    assert content["text"] == "é" * (TEXT_FIELD // 2)


def test_a_text_that_just_fits_is_whole():
    content = only(agent("x" * TEXT_FIELD, "a"))["content"]
    assert content == {"type": "text", "text": "x" * TEXT_FIELD}


def test_a_message_is_cut_once_when_its_chunks_add_up_and_then_costs_nothing():
    events = translate(*[agent("x" * 1000, "a")] * 1000)
    assert sum(len(one["content"]["text"]) for one in events) == TEXT_FIELD
    assert [one["content"].get("truncated") for one in events].count(True) == 1
    assert "truncated" in events[-1]["content"]
    assert translate(agent("x" * TEXT_FIELD, "a"), agent("more", "a"))[-1]["content"] == {
        "type": "text", "text": "", "truncated": True
    }  # fmt: skip


def test_what_is_remembered_is_bounded():
    translator = Translator()
    for n in range(MESSAGES_TRACKED * 3):
        translator.feed(agent("x", f"id {n}"))
        translator.feed(tool(f"t{n}", _meta={"terminal_output_delta": {"data": "x"}}))
        translator.feed({"sessionUpdate": f"kind {n}"})
        translator.feed({"sessionUpdate": "compaction_summary_chunk", "compactionId": f"{n}", "content": {}})
    sizes = [len(value) for value in vars(translator).values() if hasattr(value, "__len__")]
    assert max(sizes) == MESSAGES_TRACKED
    assert len(translator.ignored) <= 65
    assert len(translator.flush()) <= TOOLS_TRACKED


@pytest.mark.parametrize("field", ["rawInput", "rawOutput", "content"])
def test_one_event_is_bounded_whatever_the_tool_carries(field):
    big = {f"k{n}": {"text": "y" * 50_000} for n in range(100)}
    wide = {"numbers": list(range(200_000)), "lists": [[[]] * 500] * 500}
    deep: dict = {}
    for _ in range(900):
        deep = {"in": [deep]}
    diffs = [{"type": "diff", "path": "p" * 9000, "oldText": "o" * 400_000, "newText": "n" * 400_000}] * 900
    values = [diffs] if field == "content" else [big, wide, deep, "z" * 900_000, list(big.values())]
    for value in values:
        event = only(tool(**{field: value}))
        assert len(orjson.dumps(event)) < 2 * EVENT_TEXT


def test_a_cut_field_is_marked_where_it_was_cut():
    event = only(
        tool(
            rawInput={"a": {"b": "x" * 300_000}, "c": 1},
            content=[{"type": "diff", "path": "p", "oldText": None, "newText": "y" * 300_000}],
            rawOutput="z" * 300_000,
        )
    )
    assert event["input"]["a"]["truncated"] is True
    assert event["input"]["c"] == 1
    assert event["content"][0]["truncated"] is True
    assert event["output"]["truncated"] is True
    assert len(event["output"]["text"]) == TEXT_FIELD


# --- tools ---


def test_a_tool_call_keeps_the_fields_it_has():
    event = only(
        tool(
            title=" Run ",
            kind="execute",
            status="pending",
            rawInput={"command": "ls"},
            locations=[{"path": "/a", "line": 3}],
        )
    )
    assert event == {
        "type": "tool.upsert", "toolCallId": "t1", "title": "Run", "kind": "execute", "status": "pending",
        "input": {"command": "ls"}, "locations": [{"path": "/a", "line": 3}],
    }  # fmt: skip


def test_null_and_missing_fields_leave_what_is_there_and_an_empty_list_clears_it():
    nulls = dict.fromkeys(("title", "kind", "status", "rawInput", "rawOutput", "content", "locations"))
    assert translate(change(**nulls)) == []
    assert only(change(content=[]))["content"] == []


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({"title": "given", "rawInput": {"command": "ls"}}, "given"),
        ({"rawInput": {"command": "ls -l"}}, "ls -l"),
        ({"rawInput": {"command": ["ls", "-l"]}}, "ls -l"),
        ({"title": "", "rawInput": {"file_path": "/a"}}, "/a"),
        ({"title": None, "name": "exec"}, "exec"),
        ({"kind": "read"}, "read"),
        ({}, "tool"),
    ],
)
def test_a_tool_call_always_has_a_title(fields, title):
    assert only(tool(**fields))["title"] == title


def test_a_title_from_the_input_comes_later_if_it_was_missing_and_never_replaces_a_given_one():
    late = translate(tool(), change(rawInput={"command": "ls"}))
    assert late[-1]["title"] == "ls"
    kept = translate(tool(title="Mine"), change(rawInput={"command": "ls"}))
    assert "title" not in kept[-1]


@pytest.mark.parametrize(
    ("raw", "output"),
    [
        ("text", {"text": "text"}),
        ({"output": "o", "metadata": {"exit": 2}}, {"text": "o", "exitCode": 2}),
        ({"error": "Tool execution aborted", "metadata": {}}, {"text": "Tool execution aborted"}),
        (
            {"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]},
            {"text": "a\nb"},
        ),
        ({"n": 1}, {"text": '{\n  "n": 1\n}'}),
        ([], {"text": "[]"}),
        (False, {"text": "false"}),
    ],
)
def test_output_of_every_agent_has_one_shape(raw, output):
    assert only(tool(rawOutput=raw))["output"] == output


def delta(data, tool_id="t1", **fields) -> dict:
    return change(tool_id, _meta={"terminal_output_delta": {"data": data}}, **fields)


def ended(**fields) -> dict:
    return change(_meta={"terminal_exit": fields})


def test_terminal_output_of_codex_grows_and_ends_with_its_exit_code():
    events = translate(tool(title="ls"), delta("a\n"), delta("b\n"), ended(exit_code=1, signal=None))
    assert [one["output"] for one in events[1:]] == [
        {"text": "a\n"}, {"text": "a\nb\n"}, {"text": "a\nb\n", "exitCode": 1}
    ]  # fmt: skip


def test_an_exit_without_output_or_code_is_still_told():
    assert translate(tool(title="x"), ended(exit_code=None, signal="SIGKILL"))[-1]["output"] == {
        "text": "", "signal": "SIGKILL"
    }  # fmt: skip


def test_streamed_output_costs_a_few_times_its_length_and_loses_nothing():
    translator = Translator()
    events = [one for n in range(20_000) for one in translator.feed(delta(f"{n}\n"))]
    whole = "".join(f"{n}\n" for n in range(20_000))
    assert sum(len(one["output"]["text"]) for one in events) < 12 * len(whole)
    assert fold(events + translator.flush()).items()[0]["output"] == {"text": whole}
    assert translator.flush() == []


def test_streamed_output_held_back_goes_out_with_the_next_status():
    events = translate(delta("x" * 1000), delta("y"), change(status="completed"))
    assert events[-1] == {
        "type": "tool.upsert", "toolCallId": "t1", "status": "completed", "output": {"text": "x" * 1000 + "y"}
    }  # fmt: skip


def test_a_gigabyte_of_streamed_output_is_cut():
    translator = Translator()
    for _ in range(1000):
        translator.feed(delta("x" * 1_000_000))
    (last,) = translator.feed(ended(exit_code=0))
    assert last["output"] == {"text": "x" * TEXT_FIELD, "exitCode": 0, "truncated": True}


def test_a_permission_request_shows_a_call_that_is_unknown_and_adds_content_to_a_known_one():
    asked = {
        "toolCallId": "t1",
        "title": "w.txt",
        "status": "pending",
        "rawInput": {"diff": "…"},
        "content": [{"type": "diff", "path": "w.txt", "oldText": "", "newText": "x"}],
    }
    (event,) = Translator().permission(asked)
    assert (event["title"], event["status"], event["input"]) == ("w.txt", "pending", {"diff": "…"})
    translator = Translator()
    translator.feed(tool(title="write", status="in_progress", rawInput={"path": "w.txt"}))
    (event,) = translator.permission(asked)
    assert set(event) == {"type", "toolCallId", "content"}
    assert translator.permission({"toolCallId": "t1", "status": "pending", "content": []}) == []
    assert translator.permission(None) == []


@pytest.mark.parametrize("tool_id", [None, 5, "", {}])
def test_a_tool_call_without_an_id_is_ignored_and_counted(tool_id):
    translator = Translator()
    assert translator.feed({"sessionUpdate": "tool_call", "toolCallId": tool_id, "title": "x"}) == []
    assert translator.ignored == {"tool_call": 1}


# --- the session ---


def test_plan():
    entries = [
        {"content": "a", "status": "completed", "priority": "high"},
        {"content": "b"},
        {"status": "x"},
        3,
    ]
    assert only({"sessionUpdate": "plan", "entries": entries}) == {
        "type": "plan.set",
        "entries": [
            {"content": "a", "status": "completed", "priority": "high"}, {"content": "b", "status": "pending"}
        ],
    }  # fmt: skip


def test_commands():
    commands = [
        {"name": "go", "description": "d", "input": {"hint": "<where>"}},
        {"name": "x", "input": None},
        {},
    ]
    assert only({"sessionUpdate": "available_commands_update", "availableCommands": commands})[
        "commands"
    ] == [{"name": "go", "description": "d", "hint": "<where>"}, {"name": "x", "description": ""}]


SELECT = {"id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": "ask"}
CHOICES = [{"value": "ask", "name": "Ask", "description": "d"}, {"value": "plan"}]
FAST = {"id": "fast", "type": "boolean", "currentValue": True}


def test_config_options_selects_groups_and_booleans():
    grouped = [{"group": "g", "name": "G", "options": CHOICES}]
    odd = [{"id": "x", "type": "slider"}, {"type": "select"}, None]
    event = only(
        {
            "sessionUpdate": "config_option_update",
            "configOptions": [{**SELECT, "options": grouped}, FAST, *odd],
        }
    )
    assert event["options"] == [
        {
            "id": "mode",
            "name": "Mode",
            "type": "select",
            "value": "ask",
            "category": "mode",
            "choices": [
                {"value": "ask", "name": "Ask", "description": "d"},
                {"value": "plan", "name": "plan"},
            ],
        },
        {"id": "fast", "name": "fast", "type": "boolean", "value": True},
    ]


MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code"}]}
MODELS = {"currentModelId": "m", "availableModels": [{"modelId": "m", "name": "M", "description": "d"}]}


def test_older_modes_and_models_count_only_without_config_options():
    both = {"configOptions": [FAST], "modes": MODES, "models": MODELS}
    assert [one["id"] for one in Translator().config_from_result(both)[0]["options"]] == ["fast"]
    (event,) = Translator().config_from_result({"modes": MODES, "models": MODELS})
    assert event["options"] == [
        {
            "id": "mode", "name": "Mode", "type": "select", "value": "ask", "category": "mode",
            "choices": [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "code"}],
        },
        {
            "id": "model", "name": "Model", "type": "select", "value": "m", "category": "model",
            "choices": [{"value": "m", "name": "M", "description": "d"}],
        },
    ]  # fmt: skip


@pytest.mark.parametrize(
    "result", [None, {}, {"sessionId": "s"}, {"modes": None}, {"configOptions": None}, []]
)
def test_an_answer_that_says_nothing_about_options_changes_none(result):
    assert Translator().config_from_result(result) == []


def test_a_new_mode_changes_the_option_that_stands_for_it():
    translator = Translator()
    translator.config_from_result({"configOptions": [FAST, {**SELECT, "options": CHOICES}]})
    (event,) = translator.feed({"sessionUpdate": "current_mode_update", "currentModeId": "plan"})
    assert [one["value"] for one in event["options"]] == [True, "plan"]
    assert translator.feed({"sessionUpdate": "current_mode_update", "currentModeId": "plan"}) == []
    assert Translator().feed({"sessionUpdate": "current_mode_update", "currentModeId": "plan"}) == []


def test_usage_keeps_the_cost_that_only_some_updates_tell():
    events = translate(
        {"sessionUpdate": "usage_update", "used": 1, "size": 9, "cost": {"amount": 0.5, "currency": "USD"}},
        {"sessionUpdate": "usage_update", "used": 2, "size": 9, "cost": None},
    )
    assert events[-1]["usage"] == {"used": 2, "size": 9, "cost": 0.5, "currency": "USD"}


@pytest.mark.parametrize(
    ("update", "fields"),
    [
        (
            {"title": "T", "updatedAt": "2026-01-01T00:00:00Z"},
            {"title": "T", "updatedAt": "2026-01-01T00:00:00Z"},
        ),
        ({"title": None, "updatedAt": "x"}, {"updatedAt": "x"}),
        ({"_meta": {"codex": {"threadStatus": {"type": "idle"}}}}, None),
    ],
)
def test_info(update, fields):
    expected = [] if fields is None else [{"type": "info.set", **fields}]
    assert translate({"sessionUpdate": "session_info_update", **update}) == expected


def test_a_compaction_and_its_summary():
    def compaction(status, **more):
        return {"sessionUpdate": "compaction_update", "compactionId": "c", "status": status, **more}

    def part(words):
        content = {"type": "text", "text": words}
        return {"sessionUpdate": "compaction_summary_chunk", "compactionId": "c", "content": content}

    events = translate(compaction("in_progress"), part("We "), part("did it."), compaction("completed"))
    assert fold(events).items() == [
        {"kind": "compaction", "role": "agent", "id": "c", "status": "completed", "text": "We did it."}
    ]
    whole = translate(compaction("completed", summary=[{"type": "text", "text": "All"}]))
    assert whole == [{"type": "compaction.upsert", "id": "c", "status": "completed", "text": "All"}]
    failed = translate(compaction("failed", error="too long"))
    assert failed == [{"type": "compaction.upsert", "id": "c", "status": "failed", "text": "too long"}]


def test_unknown_kinds_are_ignored_and_counted():
    translator = Translator()
    for update in ({"sessionUpdate": "_x/y"}, {"sessionUpdate": "_x/y"}, {}, None, [], {"sessionUpdate": []}):
        assert translator.feed(update) == []
    assert translator.ignored == {"_x/y": 2, "?": 4}


def test_the_users_own_message():
    translator = Translator()
    events = translator.user_message(
        "look",
        [
            {"name": "a.png", "mime": "image/png", "size": 5},
            {"name": "b.txt", "mime": "text/plain", "size": 6},
        ],
    )
    assert {one["messageId"] for one in events} == {"u-1"}
    assert [one["content"] for one in events] == [
        {"type": "text", "text": "look"},
        {"type": "image", "mimeType": "image/png", "size": 5},
        {"type": "resource", "name": "b.txt", "mimeType": "text/plain", "size": 6},
    ]
    assert len(translator.user_message("", [{"name": "a", "mime": "x/y", "size": 1}])) == 1


# --- whatever comes ---

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=5,
)
KINDS = st.sampled_from(
    [
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
        "available_commands_update",
        "config_option_update",
        "current_mode_update",
        "usage_update",
        "session_info_update",
        "compaction_update",
        "compaction_summary_chunk",
        "_other",
    ]
)
BLOCK = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            ["text", "image", "audio", "resource", "resource_link", "content", "diff", "terminal"]
        )
        | JSON,
        "text": JSON,
        "data": JSON,
        "uri": JSON,
        "resource": JSON,
        "content": JSON,
        "path": JSON,
        "newText": JSON,
        "oldText": JSON,
        "options": JSON,
        "id": JSON,
        "value": JSON,
        "currentValue": JSON,
        "name": JSON,
    },
)
IDS = st.sampled_from(["a", "b"]) | JSON
UPDATES = JSON | st.fixed_dictionaries(
    {"sessionUpdate": KINDS | JSON},
    optional={
        "content": BLOCK | st.lists(BLOCK, max_size=3) | JSON,
        "messageId": IDS,
        "toolCallId": IDS,
        "compactionId": IDS,
        "title": JSON,
        "status": JSON,
        "kind": JSON,
        "rawInput": JSON,
        "rawOutput": JSON,
        "locations": st.lists(BLOCK),
        "entries": st.lists(BLOCK, max_size=3),
        "availableCommands": st.lists(BLOCK, max_size=3),
        "used": JSON,
        "configOptions": st.lists(BLOCK, max_size=3) | JSON,
        "cost": JSON,
        "summary": st.lists(BLOCK, max_size=3),
        "currentModeId": JSON,
        "updatedAt": JSON,
        "error": JSON,
        "_meta": JSON
        | st.fixed_dictionaries(
            {},
            optional={
                "terminal_output_delta": JSON | st.fixed_dictionaries({"data": JSON}),
                "terminal_exit": JSON | st.fixed_dictionaries({"exit_code": JSON, "signal": JSON}),
            },
        ),
    },
)
FIELDS = {
    "message.append": ({"messageId": str, "role": str, "content": dict}, {}),
    "tool.upsert": (
        {"toolCallId": str},
        {
            "title": str,
            "kind": str,
            "status": str,
            "input": object,
            "content": list,
            "locations": list,
            "output": dict,
        },
    ),
    "plan.set": ({"entries": list}, {}),
    "commands.set": ({"commands": list}, {}),
    "config.set": ({"options": list}, {}),
    "usage.set": ({"usage": dict}, {}),
    "info.set": ({}, {"title": str, "updatedAt": str}),
    "compaction.upsert": ({"id": str}, {"status": str, "text": str}),
}


def assert_documented(event: dict) -> None:
    required, optional = FIELDS[event["type"]]
    fields = {key: value for key, value in event.items() if key != "type"}
    assert set(required) <= set(fields)
    for key, value in fields.items():
        assert isinstance(value, {**required, **optional}[key])
    if event["type"] == "message.append":
        assert event["role"] in ("user", "agent", "thought")
        assert event["content"]["type"] in ("text", "image", "resource", "unsupported")


@settings(max_examples=100, deadline=None)
@given(st.lists(UPDATES, max_size=4), JSON)
def test_any_json_gives_events_of_the_documented_shape(updates, result):
    translator = Translator()
    events = [event for update in updates for event in translator.feed(update)]
    events += translator.config_from_result(result) + translator.flush()
    for event in events:
        assert_documented(event)
        assert len(orjson.dumps(event)) < 2 * EVENT_TEXT
    assert len(fold(events).items()) <= len(events)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40), st.lists(st.integers(0, 40), max_size=6))
def test_a_text_cut_into_any_chunks_is_the_same_message(words, cuts):
    edges = [0, *sorted(cuts), len(words)]
    chunks = [agent(words[a:b], "a") for a, b in pairwise(edges)]
    items = fold(translate(*chunks)).items()
    assert "".join(block["text"] for item in items for block in item["content"]) == words
