"""A small Trio client of the contract, for every end-to-end test: demo and real agents alike.

    async with serving(tmp_path) as server:                 the real server in a process of its own
        client = server.client
        session = await client.post("/api/sessions", {"configId": …})
        async with client.terminal(session["id"]) as term:  a terminal viewer with a pyte screen
            await term.until_text("ready")                  a regular expression over the screen
            await term.submit("hello")                      text, shown, then Enter: two writes
        await client.switch(session["id"], "acp")
        async with client.chat(session["id"]) as chat:      state, events and their fold, kept in step
            await client.prompt(session["id"], "and now?")
            await chat.until_turns_ended(1)
            assert chat.messages() == [("user", "hello"), ("agent", "echo: hello"), …]
        assert marked(server.data) == []                    no process of this server is left

* Fields go and come by their wire names. Requests carry the bearer token; `command()`, `switch()`, `prompt()`
  and the like also a fresh `clientRequestId`, unless the body has one (to repeat a request).
* `call()`, `get()`, `post()`, … return the JSON and raise `Unexpected` (`.status`, `.body`, `.reason`) for
  any status but 2xx, or for another than the `status=` asked for. `request()` never raises and sends what it
  is told, right or wrong.
* Views read in the background. `view.until(want)` asks `want(view)` after each frame; its failure, like that
  of every other wait, is an AssertionError with what was there instead. `view.closed` is the close code and
  reason once the server has closed the socket; a wait for anything else then fails at once.
* Views hold each frame to the contract: order, positions, generations, the fields that every event has.
* Every wait has a deadline (`WAIT` seconds, or `seconds=`). Nothing here sleeps to pass or polls the server.
"""

from tests.support.api import Client, Unexpected, request_id
from tests.support.server import Server, marked, serving
from tests.support.views import WAIT, ChatView, TerminalView

__all__ = [
    "WAIT", "ChatView", "Client", "Server", "TerminalView", "Unexpected", "marked", "request_id", "serving",
]  # fmt: skip
