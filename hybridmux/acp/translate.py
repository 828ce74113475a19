"""ACP `session/update`s into the normalised events of the chat. Pure: no I/O, no clock, never raises.

The events lack `seq`, `at` and `turnId`; the chat log adds them. What a translator remembers is bounded,
however much an agent streams: the id of the current run of chunks, the length of recent messages, and the
streamed output of recent tool calls.

One translator serves one generation of the chat log, across reconnects: made-up message ids stay unique.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hybridmux.acp import metadata, tools
from hybridmux.acp.content import Room, clip, read_content, read_locations, read_tool_content, text_content
from hybridmux.acp.reading import Json, items, maybe_text, obj, present, text
from hybridmux.acp.recent import Recent
from hybridmux.budgets import MESSAGES_TRACKED, TEXT_FIELD, TOOLS_TRACKED

ROLES = {"user_message_chunk": "user", "agent_message_chunk": "agent", "agent_thought_chunk": "thought"}
KINDS_COUNTED = 64
"""Different unknown update kinds that are counted by name."""
BLOCKS = 256
"""Blocks other than text in one message."""


class Translator:
    """Feed it updates, get events."""

    def __init__(self) -> None:
        self.ignored: Counter[str] = Counter()
        """Updates that gave no event because their kind is unknown or they make no sense, by kind."""
        self._run: tuple[str, str] | None = None
        """Role and made-up id of the current run of chunks without an id."""
        self._made_up = 0
        self._roles: Recent[str] = Recent(MESSAGES_TRACKED)
        self._lengths: Recent[tuple[int, int]] = Recent(MESSAGES_TRACKED)
        """Bytes of text and number of other blocks, by message."""
        self._tools: Recent[bool] = Recent(MESSAGES_TRACKED)
        """Known tool calls, and whether they have a title of their own."""
        self._outputs: Recent[tools.Output] = Recent(TOOLS_TRACKED)
        self._summaries: Recent[tools.Output] = Recent(TOOLS_TRACKED)
        self._options: list[Json] = []
        self._usage: Json = {}

    def feed(self, update: Any) -> list[Json]:
        """The events of one `session/update`: its params, or the `update` in them."""
        update = obj(update)
        if isinstance(update.get("update"), dict):
            update = update["update"]
        kind = update.get("sessionUpdate")
        reader = _READERS.get(kind) if isinstance(kind, str) else None
        events = reader(self, update) if reader else []
        if not reader or (not events and kind in _ALWAYS):
            self._ignore(kind)
        return events

    def flush(self) -> list[Json]:
        """Streamed output that is held back (see `tools.Output`). For when a stream pauses or a turn ends."""
        outputs = [
            {"type": "tool.upsert", "toolCallId": key, "output": one.take()}
            for key, one in self._outputs.items()
            if one.pending()
        ]
        summaries = [self._compaction(key, one) for key, one in self._summaries.items() if one.pending()]
        return outputs + summaries

    def break_run(self) -> None:
        """What comes next without a message id is a new message: a turn starts, or an agent connects."""
        self._run = None

    def config_from_result(self, result: Any) -> list[Json]:
        """`config.set` from the answer to new, load, resume or set, if it says anything about options."""
        options = metadata.config_from_result(result)
        return [] if options is None else self._config(options)

    def user_message(self, words: str, attachments: Sequence[Any] = ()) -> list[Json]:
        """What the user sent, as events; no agent echoes it.

        Attachments are `{name, mime, size}` or have these attributes; images become `image` content.
        """
        self.break_run()
        message_id = self._make_up("u")
        contents = [text_content(words)] if words else []
        contents += [_attached(one) for one in attachments]
        return [
            {"type": "message.append", "messageId": message_id, "role": "user", "content": one}
            for one in contents
        ]

    def permission(self, tool_call: Any) -> list[Json]:
        """The events of the `toolCall` in a permission request.

        omp asks before it tells of the call, so an unknown call appears. Of a known one only content and
        locations are news (opencode shows the diff here): its status and input here are the request's own.
        """
        tool_call = {**obj(tool_call), "sessionUpdate": "tool_call_update"}
        if maybe_text(tool_call.get("toolCallId")) in self._tools:
            wanted = ("sessionUpdate", "toolCallId", "content", "locations")
            tool_call = {key: tool_call[key] for key in wanted if tool_call.get(key)}
        return self._tool(tool_call)

    # --- messages ---

    def _chunk(self, update: Json) -> list[Json]:
        role = ROLES[update["sessionUpdate"]]
        message_id = self._message_id(update.get("messageId"), role)
        used, blocks = self._lengths.get(message_id, (0, 0))
        if used > TEXT_FIELD or blocks >= BLOCKS:
            return []
        content = read_content(update.get("content"), Room(left=TEXT_FIELD - used))
        if content["type"] != "text":
            blocks += 1
        elif "truncated" in content:
            used = TEXT_FIELD + 1
        else:
            used += len(content["text"].encode())
        self._lengths[message_id] = (used, blocks)
        if content.get("text") == "" and used <= TEXT_FIELD:
            return []
        return [{"type": "message.append", "messageId": message_id, "role": role, "content": content}]

    def _message_id(self, given: Any, role: str) -> str:
        """The agent's id, or the run's. An id that serves two roles (omp's thoughts) gets a second name."""
        given = maybe_text(given)
        if given is None:
            if self._run is None or self._run[0] != role:
                self._run = (role, self._make_up("m"))
            return self._run[1]
        self._run = None
        owner = self._roles.get(given, role)
        self._roles[given] = owner
        return given if owner == role else f"{given}:{role}"

    def _make_up(self, letter: str) -> str:
        self._made_up += 1
        return f"{letter}-{self._made_up}"

    # --- tools ---

    def _tool(self, update: Json) -> list[Json]:
        tool_id = maybe_text(update.get("toolCallId"))
        if tool_id is None:
            return []
        self._run = None
        room = Room()
        patch = {
            **self._title(tool_id, update),
            **present(
                kind=maybe_text(update.get("kind"), limit=64),
                status=maybe_text(update.get("status"), limit=64),
                input=clip(update.get("rawInput"), room) or None,
                content=_listed(update.get("content"), read_tool_content(update.get("content"), room)),
                locations=_listed(update.get("locations"), read_locations(update.get("locations"), room)),
                output=self._output(tool_id, update, room),
            ),
        }
        return [{"type": "tool.upsert", "toolCallId": tool_id, **patch}] if patch else []

    def _title(self, tool_id: str, update: Json) -> Json:
        title = text(update.get("title"), limit=tools.TITLE_CHARS).strip()
        has_title = self._tools.get(tool_id, False)
        # Told without a kind, a replayed call may have only its tool's name where it had words while live.
        is_bare = not update.get("kind") and tools.BARE_NAME.fullmatch(title) is not None
        better = tools.title_from_input(update.get("rawInput")) if not title or is_bare else None
        if is_bare and has_title:
            return {}
        if better and not has_title:
            title, is_bare = better, False
        self._tools[tool_id] = has_title or (bool(title) and not is_bare)
        if not title and update["sessionUpdate"] == "tool_call":
            title = text(update.get("name")) or text(update.get("kind")) or "tool"
        return {"title": title} if title else {}

    def _output(self, tool_id: str, update: Json, room: Room) -> Json | None:
        """The output to send with this update, None if there is nothing new."""
        meta = obj(update.get("_meta"))
        added, ended = tools.terminal_delta(meta), tools.terminal_exit(meta)
        held = self._outputs.get(tool_id)
        if added is None and not ended and held is None:
            raw = update.get("rawOutput")
            return None if raw is None else tools.raw_output(raw, room)
        held = held or tools.Output()
        held.add(added or "")
        held.ended = ended or held.ended
        self._outputs[tool_id] = held
        changed = bool(ended) or (held.pending() and isinstance(update.get("status"), str))
        return held.take() if changed or held.due() else None

    # --- the session ---

    def _plan(self, update: Json) -> list[Json]:
        return [{"type": "plan.set", "entries": metadata.read_plan(update.get("entries"))}]

    def _commands(self, update: Json) -> list[Json]:
        return [{"type": "commands.set", "commands": metadata.read_commands(update.get("availableCommands"))}]

    def _config_update(self, update: Json) -> list[Json]:
        return self.config_from_result(update)

    def _mode(self, update: Json) -> list[Json]:
        return self._current(metadata.LEGACY_MODE, update.get("currentModeId"))

    def _model(self, update: Json) -> list[Json]:
        return self._current(metadata.LEGACY_MODEL, update.get("currentModelId"))

    def _current(self, name: str, value: Any) -> list[Json]:
        options = metadata.with_current(self._options, name, value)
        return [] if options is None else self._config(options)

    def _config(self, options: list[Json]) -> list[Json]:
        self._options = options
        return [{"type": "config.set", "options": options}]

    def _usage_update(self, update: Json) -> list[Json]:
        # Claude Code tells the cost in every other update only; the last one known stays.
        self._usage = {**self._usage, **metadata.read_usage(update)}
        return [{"type": "usage.set", "usage": dict(self._usage)}] if self._usage else []

    def _info(self, update: Json) -> list[Json]:
        fields = present(title=maybe_text(update.get("title")), updatedAt=maybe_text(update.get("updatedAt")))
        return [{"type": "info.set", **fields}] if fields else []

    def _compaction_update(self, update: Json) -> list[Json]:
        key = maybe_text(update.get("compactionId"))
        if key is None:
            return []
        held = self._summaries.get(key) or tools.Output()
        summary = _summary(items(update.get("summary"))) or text(update.get("error"), limit=TEXT_FIELD)
        if summary:
            held = tools.Output()
            held.add(summary)
        self._summaries[key] = held
        return [self._compaction(key, held, status=maybe_text(update.get("status"), limit=64))]

    def _compaction_chunk(self, update: Json) -> list[Json]:
        key = maybe_text(update.get("compactionId"))
        if key is None:
            return []
        held = self._summaries.get(key) or tools.Output()
        held.add(_summary([update.get("content")]))
        self._summaries[key] = held
        return [self._compaction(key, held)] if held.due() else []

    @staticmethod
    def _compaction(key: str, held: tools.Output, status: str | None = None) -> Json:
        words = held.take()["text"] if held.pending() else None
        return {"type": "compaction.upsert", "id": key, **present(status=status, text=words)}

    def _ignore(self, kind: Any) -> None:
        name = text(kind, limit=64) or "?"
        self.ignored[name if name in self.ignored or len(self.ignored) < KINDS_COUNTED else "?"] += 1


_READERS = {
    "user_message_chunk": Translator._chunk,
    "agent_message_chunk": Translator._chunk,
    "agent_thought_chunk": Translator._chunk,
    "tool_call": Translator._tool,
    "tool_call_update": Translator._tool,
    "plan": Translator._plan,
    "available_commands_update": Translator._commands,
    "config_option_update": Translator._config_update,
    "current_mode_update": Translator._mode,
    "current_model_update": Translator._model,
    "usage_update": Translator._usage_update,
    "session_info_update": Translator._info,
    "compaction_update": Translator._compaction_update,
    "compaction_summary_chunk": Translator._compaction_chunk,
}
_ALWAYS = {"tool_call", "compaction_update"}
"""Kinds that give an event unless they are malformed."""


def _listed(given: Any, found: list[Json]) -> list[Json] | None:
    """An array replaces, also an empty one; null or nothing leaves what is there."""
    return found if isinstance(given, list) else None


def _summary(blocks: list[Any]) -> str:
    room = Room()
    contents = [read_content(one, room) for one in blocks[:BLOCKS]]
    return "".join(one["text"] for one in contents if one["type"] == "text")


def _attached(one: Any) -> Json:
    name, mime, size = (
        one[key] if isinstance(one, dict) else getattr(one, key) for key in ("name", "mime", "size")
    )
    kind = {"type": "image"} if mime.startswith("image/") else {"type": "resource", "name": name}
    return {**kind, "mimeType": mime, "size": size}
