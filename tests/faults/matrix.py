"""The fault matrix of the switch: which fault is proved in which phase, by which kind of test; pure.

A row is a fault. It has one letter a phase, for each direction, in the order of `PHASES`:

    P   proved over real processes: `tests/faults/test_processes.py`, id `fault-direction-phase`
    S   proved by a playbook, scripted sides on the mock clock: `tests/conversation/test_fault_playbook.py`
    a…z nothing to prove: `REASONS` says why

`docs/faults.md` shows it as tables (`scripts/faults`). A fault is filed under the phase in which it strikes.
"""

from collections.abc import Iterator
from typing import NamedTuple

PHASES = {
    "to_chat": [
        *("precheck", "interrupting", "awaiting_choice", "stopping"),
        *("starting", "loading", "rolling_back"),
    ],
    "to_terminal": ["cancelling", "stopping", "starting", "loading", "rolling_back"],
}

PROCESS, PLAYBOOK = "P", "S"
TESTS = {
    PROCESS: "tests/faults/test_processes.py::test_fault",
    PLAYBOOK: "tests/conversation/test_fault_playbook.py::test_fault",
}

REASONS = {
    "a": "no program is started in this phase",
    "c": "the connector has nothing to answer in this phase: it waits, or is being ended",
    "e": "the connector has only its turn to end; what it may say in a turn is proved in tests/acp",
    "f": "noticed in starting, by the terminal's last words",
    "i": "nothing is interrupted in this phase",
    "j": "a switch sees nothing of it, and this phase only asks for the list once more: proved in tests/acp",
    "l": "the list of sessions is not asked for in this phase",
    "m": "a connector that is brought back resumes: nothing is replayed, nothing is looked up",
    "n": "which conversation was opened is looked at in loading",
    "o": "no program opens a conversation in this phase",
    "q": "no program has to end in this phase; a connector that is replaced ends as in precheck",
    "t": "the program of this phase is the terminal's, which does not speak ACP",
    "w": "the record is not written in this phase; the intent is written before the first destructive step",
    "z": "a chat does not sleep yet, so nothing wakes",
}


class Row(NamedTuple):
    """One fault; `to_chat` and `to_terminal` have one letter a phase."""

    name: str
    sentence: str
    to_chat: str
    to_terminal: str


ROWS = (
    # .                                                             phases: pias slr   cs slr
    Row("spawn-enoent", "The program cannot be started: there is none (ENOENT).", "PaaaaSP", "aaPaP"),
    Row("spawn-eacces", "The program cannot be started: it must not be run (EACCES).", "PaaaaSP", "aaPaP"),
    Row("exits-at-once", "The program exits as soon as it is started.", "PaaaaSP", "aaPaP"),
    Row("exits-later", "It exits after it has said its first words.", "PcccSPS", "ecSSP"),
    Row("hangs-initialize", "The connector never answers initialize.", "PaaaaSt", "eattP"),
    Row("hangs-list", "The connector never answers session/list.", "PlllSlt", "llttm"),
    Row("hangs-load", "Connector or terminal never open the conversation.", "oooooPP", "ooPSP"),
    Row("garbage", "The program prints garbage, and goes on.", "PcccjPP", "ecPaP"),
    Row("half-line", "It exits in the middle of an answer.", "PcccSPP", "ecPaP"),
    Row("big-line", "The connector says a line of 64 MiB, and goes on.", "PcccSPt", "ectaP"),
    Row("unknown-id", "The connector answers a request that nobody made.", "PcccjPt", "ectaP"),
    Row("error", "The connector answers with an error, the terminal ends with one.", "PcccSPP", "ecPaP"),
    Row("auth-required", "The agent wants its user to log in first.", "PcccSPt", "ectaP"),
    Row("active-writer", "Another program has the conversation open.", "oooooPP", "ooPaP"),
    Row("closed-stdout", "The program closes its output and lives on.", "PcccSPP", "ecPaP"),
    Row("stderr-flood", "The program writes 5 MB to stderr, and goes on.", "PcccjPP", "ecPaP"),
    Row("dies-mid-load", "The connector exits after two replayed updates.", "oooooPt", "oottm"),
    Row("deaf-interrupt", "The program ignores the interrupt.", "iPPiiii", "Piiii"),
    Row("deaf-quit", "The program ignores being asked to quit, and SIGTERM.", "PqqPqqP", "qPqqP"),
    Row("forks", "The program leaves a process in a session of its own behind.", "PqqPqqP", "qPqqP"),
    Row("other-session", "The terminal has another conversation open than it should.", "SfffSoP", "oonPo"),
    Row("disk-full", "The disk is full when the record is written.", "PwwwwPw", "PwwPw"),
    Row("unwritable", "The record cannot be written for another reason.", "PwwwwPw", "PwwPw"),
    Row("second-switch", "Somebody else asks for a switch as well, either way.", "PPPPSPP", "PPPSP"),
    Row("close-resume", "Somebody closes, removes or resumes it, or prompts.", "PPPPSPP", "PPPSP"),
    Row("wake", "A sleeping chat is woken.", "zzzzzzz", "zzzzz"),
    Row("disconnect", "The client that asked goes away.", "PPPPSPP", "PPPSP"),
    Row("shutdown", "The server is stopped.", "PPPPSPP", "PPPSP"),
    Row("kill-9", "The server is killed and started again.", "PPPPSPP", "PPPSP"),
    Row("resize", "A viewer of the terminal wants another size.", "PPPPSPP", "PPPSP"),
    Row("killed", "Somebody kills the program that the phase waits for.", "PPPPSPP", "PPPSP"),
    Row("viewers", "Viewers of both sides and of the list are connected.", "PPPPSPP", "PPPSP"),
)


class Cell(NamedTuple):
    """One fault in one phase."""

    fault: str
    direction: str
    phase: str
    letter: str

    @property
    def id(self) -> str:
        """The id of its test."""
        return f"{self.fault}-{self.direction}-{self.phase}"

    @property
    def test(self) -> str | None:
        """The test that proves it; None where there is nothing to prove."""
        return f"{TESTS[self.letter]}[{self.id}]" if self.letter in TESTS else None


def cells(letter: str | None = None) -> Iterator[Cell]:
    """Every cell, or those with one letter."""
    for row in ROWS:
        for direction, phases in PHASES.items():
            for phase, found in zip(phases, getattr(row, direction), strict=True):
                if letter in (None, found):
                    yield Cell(row.name, direction, phase, found)
