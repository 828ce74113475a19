"""The books that a soak and the kills are held against notice what they are for."""

from random import Random

import pytest

from tests.soak import contract, faults
from tests.soak.contract import Breach
from tests.soak.ledger import Difference, Ledger
from tests.support.promises import Promises


def test_a_message_is_lost_doubled_or_uncertain():
    ledger = Ledger("s")
    for text in ("kept", "unsure", "waiting"):
        ledger.queued(text) if text == "waiting" else ledger.sent(text)
    ledger.kept("kept")
    assert not ledger.compare(["kept"])
    assert not ledger.compare(["kept", "unsure"])
    assert ledger.compare([]) == Difference(lost=("kept",))
    assert ledger.compare(["kept", "kept"]) == Difference(doubled=("kept",))
    assert ledger.compare(["kept", "waiting"]) == Difference(doubled=("waiting",))
    assert ledger.compare(["kept", "unsure", "unsure"]) == Difference(doubled=("unsure",))


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, {"error": "the server failed"}),
        (503, {"error": "the server is stopping"}),
        (502, {"error": ""}),
        (409, {"error": "no", "reason": "because"}),
        (200, {"side": "switching", "dropped": [], "unsupported": []}),
    ],
)
def test_an_answer_against_the_contract_is_a_breach(status, body):
    with pytest.raises(Breach):
        contract.switched(status, body, "acp")


def test_every_kind_of_fault_is_rolled():
    rolled = {word for n in range(500) for word in faults.roll(Random(n), "acp").split(",")}
    names = {word.partition(":")[2].partition("=")[0] for word in rolled}
    assert {"exit", "hang", "die", "active_writer", "lag"} <= names


RECORD = {"id": "a", "name": "one", "state": "active", "side": "tui", "activity": "idle"}


def test_a_promise_about_a_record_is_kept_or_broken():
    promises = Promises()
    promise = promises.created("a", "one", "tui")
    assert promises.broken_by([RECORD]) == []
    assert len(promises.broken_by([])) == 1
    assert len(promises.broken_by([RECORD | {"name": "two"}])) == 1
    assert len(promises.broken_by([RECORD, RECORD | {"id": "b"}])) == 1
    promise.widen(name="two", activity="switching", exists=False)
    assert promises.broken_by([RECORD | {"name": "two", "activity": "switching"}]) == []
    assert promises.broken_by([]) == []
    assert len(promises.broken_by([RECORD | {"activity": "turn"}])) == 1
