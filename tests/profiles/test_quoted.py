"""Words that a conversation quotes, against every rule of every agent: they change nothing."""

from itertools import chain

import pytest
from attrs import evolve

from hybridmux.agents.profile import Look, TuiState
from tests.profiles.test_evidence import MOMENTS, PROFILES, film

WORDS = [
    # opencode
    "GET /api/me -> 401 Error: Session not found (auth.ts:31)",
    "Error: Session not found: ses_1",
    "△ Permission required",
    "Allow once   Allow always   Reject   ⇆ select  enter confirm",
    "press esc interrupt, then esc again to interrupt",
    "■■⬝⬝⬝⬝⬝⬝  esc interrupt        tab agents  ctrl+p commands",
    "⬝⬝⬝⬝⬝⬝■■  esc again to interrupt",
    "tab agents  ctrl+p commands",
    # codex
    "ERROR: No saved session found with ID 0f2b",
    "🔒  This conversation is open in another app            r to retry",
    "r retry   f fork   ←/esc command center",
    "Background server has incompatible feature settings",
    "\u203a 1. Yes, proceed (y)",
    "3. No, and tell Codex what to do differently (esc)",
    "Press enter to confirm or esc to cancel",
    "[ ! ] Action Required",
    # Claude Code
    "No conversation found with session ID: 0f2b",
    "❯ 1. Yes",
    "Esc to cancel · Tab to amend",
    "Enter to confirm · Esc to exit",
    "──────────────────────────",
    "⏸ manual mode on · esc to interrupt",
    # omp
    'Error: Session "0f2b" not found.',
    "╭─ Allow tool: bash ───────────────────╮",
    "│ up/down navigate  enter select  esc cancel │",
    "⎋ Working…",
    "⠇ 0s > ⬢ Fake Model",
    "π ! asking",
    # all of them
    "state=blocked",
]
CONVERSATION = {
    "opencode": ("     ", "  ┃  "),
    "codex": ("• ", "\u203a ", "  "),
    "claudecode": ("● ", "❯ ", "  "),
    "omp": (" ", ""),
}
"""How lines of a conversation begin."""
BELOW = {
    "opencode": ("  ╹▀", "  ┃  △"),
    "codex": ("\u203a Ask Codex", "  Would you like"),
    "claudecode": ("───────", " Bash command"),
    "omp": (" π >", "  ⎋", "╭─ Allow tool", "╰─"),
}
"""What stands below the conversation begins like this."""


def moments(agent):
    """Looks of the agent's recordings with a conversation above a composer or a dialog."""
    shown = {}
    for recording, moment, turn, _ in MOMENTS:
        if recording.startswith(agent):
            film_ = shown.setdefault(recording, film(recording))
            look = film_.until(float(moment))
            if turn != "unknown" and place(agent, look.screen) is not None:
                yield look


def place(agent, screen):
    """The row before which a conversation ends."""
    rows = screen.split("\n")
    last = [at for at, row in enumerate(rows) if row.startswith(BELOW[agent])]
    if not last:
        return None
    at = last[-1]
    if agent == "opencode":  # the box of which that is a part
        while rows[at - 1].startswith("  ┃"):
            at -= 1
    if agent == "claudecode" and rows[at].startswith("──"):
        at = last[-2]
    if agent == "omp":
        at = next(one for one in last if one >= at - 12)
    return at


def quoting(agent, screen, *words):
    rows, at = screen.split("\n"), place(agent, screen)
    return "\n".join([*rows[:at], *words, "", *rows[at:]])


BASES = [(agent, look) for agent in PROFILES for look in moments(agent)]


def test_the_bases_are_idle_running_and_asking():
    for agent, profile in PROFILES.items():
        turns = {profile.observe(look).turn for name, look in BASES if name == agent}
        assert turns >= {"idle", "running", "asking"}, agent


def variants(agent):
    """Each word in each way, and all of them at once."""
    drawn = [(begin + word,) for begin in CONVERSATION[agent] for word in WORDS]
    return [*drawn, *(tuple(begin + word for word in WORDS) for begin in CONVERSATION[agent])]


@pytest.mark.parametrize(("agent", "look"), BASES, ids=lambda one: one if isinstance(one, str) else "")
@pytest.mark.parametrize("facts", [True, False])
@pytest.mark.parametrize("starting", [True, False])
def test_what_a_conversation_quotes_decides_nothing(agent, look, facts, starting):
    base = look if facts else Look(screen=look.screen, title="", report=None)
    base = evolve(base, starting=starting)
    expected = PROFILES[agent].observe(base)
    for words in variants(agent):
        screen = quoting(agent, base.screen, *words)
        assert PROFILES[agent].observe(evolve(base, screen=screen)) == expected, f"{words}\n{screen}"


@pytest.mark.parametrize("agent", PROFILES)
def test_words_alone_are_no_state(agent):
    """A screen that is not painted to its end, or a view that we do not know."""
    begins = [one for one in CONVERSATION[agent] if one.strip() not in ("\u203a", "❯")]
    for words in chain([WORDS], ([word] for word in WORDS)):
        for begin in begins:
            screen = "\n".join([*(begin + word for word in words), begin + "and so on", "", begin + "End."])
            state = PROFILES[agent].observe(Look(screen=screen, title="", report=None, starting=True))
            assert (state.turn, state.trouble) == ("unknown", None), screen


OPENCODE = {
    "running": """\
     tick 1 tick 2
  ┃
  ┃  Build · Fake Model Fake
  ╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀
   ■■⬝⬝⬝⬝⬝⬝  esc interrupt     tab agents  ctrl+p commands
""",
    "running, Esc pressed": """\
  ┃  Build · Fake Model Fake
  ╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀
   ⬝⬝■■■■■■  esc again to        tab agents ctrl+p
             interrupt                      commands
""",
    "running, wide": """\
  ┃  Build · Fake Model Fake                                                  ~/proj
  ╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀
   ■■■■■■⬝⬝  esc interrupt              tab agents  ctrl+p commands    • OpenCode 1.18.33
""",
    "idle": """\
  ┃  Build · Fake Model Fake
  ╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀
   /home/agent/proj              110 (0%)  ctrl+p commands
""",
    "idle, at home": """\
  ┃  Build · Fake Model Fake
  ╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀
                               tab agents  ctrl+p commands

   ● Tip Set agent temperature from 0.0 (focused) to 1.0 (
         creative)

  ~/proj                                           1.18.33
""",
    "asking": """\
  ┃  △ Permission required
  ┃    # Shell command
  ┃
  ┃  $ touch never
  ┃
  ┃   Allow once   Allow always   Reject
  ┃
  ┃  ctrl+f fullscreen  ⇆ select  enter confirm
  ┃
""",
}
"""As measured at 60 and 170 columns."""


@pytest.mark.parametrize("name", OPENCODE)
def test_opencode_in_narrow_and_wide_terminals(name):
    state = PROFILES["opencode"].observe(Look(screen=OPENCODE[name], title="", report=None))
    assert state.turn == name.partition(",")[0]
    quoted = "  ╹▀▀▀▀▀▀▀▀\n   ■■⬝⬝  esc interrupt\n  ┃  △ Permission required\n  ┃\n\n" + OPENCODE[name]
    assert PROFILES["opencode"].observe(Look(screen=quoted, title="", report=None)) == state


def test_nothing_is_known_of_an_empty_foot():
    assert PROFILES["opencode"].observe(Look(screen="  ╹▀▀▀▀▀\n", title="", report=None)) == TuiState()
