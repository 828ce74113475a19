"""The fault variable, and the counter of the `lag` fault."""

import pytest

from hybridmux.agents.demo.breakage import Lag
from hybridmux.agents.demo.faults import VARIABLE, BadFault, Fault, Faults, parse


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("", ()),
        ("start:exit", (Fault("", "start", "exit"),)),
        (
            "acp.load:hang, tui.quit:hang=hard",
            (Fault("acp", "load", "hang"), Fault("tui", "quit", "hang", "hard")),
        ),
        ("quit:hang hard", (Fault("", "quit", "hang", "hard"),)),
        ("load:die=3\nlist:slow=0.5\n", (Fault("", "load", "die", "3"), Fault("", "list", "slow", "0.5"))),
    ],
)
def test_parsed(text, faults):
    assert parse(text) == faults


@pytest.mark.parametrize("text", ["load", "web.load:exit", "lunch:exit", "load:explode", "load:die=few"])
def test_refused(text):
    with pytest.raises(BadFault, match=VARIABLE):
        parse(text)


def test_a_side_sees_its_own_and_the_common_ones():
    environ = {VARIABLE: "acp.load:exit,load:slow,tui.load:hang"}
    assert [fault.name for fault in Faults.from_environment("acp", environ).at("load")] == ["exit", "slow"]
    assert [fault.name for fault in Faults.from_environment("tui", environ).at("load")] == ["slow", "hang"]
    assert Faults.from_environment("tui", {}).at("load") == ()


def test_out_of_a_file(tmp_path):
    environ = {VARIABLE: f"@{tmp_path / 'fault'}"}
    assert Faults.from_environment("acp", environ).at("list") == ()
    (tmp_path / "fault").write_text("list:error\n")
    found = Faults.from_environment("acp", environ).find("list", "error")
    assert found == Fault("", "list", "error")


def test_lag_counts_for_each_newest_turn(tmp_path):
    lag = Lag(tmp_path, "demo_0")
    assert [lag.due(5, 2) for _ in range(4)] == [True, True, False, False]
    assert [lag.due(6, 1) for _ in range(2)] == [True, False]
