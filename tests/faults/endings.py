"""The server ends in a phase, one way or the other, and another one starts on its data."""

import os
import signal
from pathlib import Path

import trio

from tests.faults import outcomes
from tests.faults.holds import HOLDS, hold
from tests.faults.house import ENDING, house
from tests.faults.stage import staged

STOPPING = {"error": "the server is stopping", "reason": "server_stopping"}


async def server_ends(folder: Path, direction: str, phase: str, *, by: signal.Signals) -> None:
    """SIGTERM to the keeper, or SIGKILL to the server itself; then a new server and a resume."""
    (folder / "stage").mkdir()
    budgets = {**ENDING, "interrupting": 1.2} if phase == "awaiting_choice" else ENDING
    with house(folder, budgets) as first:
        async with staged(first, folder / "stage", direction, HOLDS[direction, phase].start) as stage:
            await hold(stage, phase)
            os.kill(first.process.pid if by is signal.SIGTERM else first.server, by)
            code = await trio.to_thread.run_sync(first.process.wait, 20)
            assert stage.living() == {}
            answer = await stage.answer()
            if by is signal.SIGTERM:
                assert code == 0
                if phase == "rolling_back":  # that failed, and nothing else
                    await outcomes.refused(stage, 502, "could not be brought back")
                else:
                    assert answer == (503, STOPPING)
                assert await stage.chat.until_closed() == (1001, "the server is stopping")
                assert stage.record()["state"] == "interrupted"
            else:
                assert answer is None
                assert stage.record()["state"] == "active"
            assert list(first.data.glob(".*.tmp")) == []
            assert "Traceback" not in first.log()
            stage.break_with("")
            with house(folder, budgets) as second:
                stage.house, stage.client, stage.size = second, second.client, (80, 24)
                await outcomes.interrupted(stage, "idle" if phase == "precheck" else "switching")
                await outcomes.resumed(stage)
                await outcomes.put_away(stage)
                assert "Traceback" not in second.log()
