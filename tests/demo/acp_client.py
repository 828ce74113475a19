"""Drives a real `hybridmux-demo acp` over real pipes; synchronous, each wait with a deadline."""

import contextlib
import json
import queue
import subprocess
import sys
import threading
import time

DEADLINE = 10.0
CHUNKS = {"agent": "agent_message_chunk", "user": "user_message_chunk", "thought": "agent_thought_chunk"}
COMMAND = [sys.executable, "-m", "hybridmux.agents.demo"]


class Answered(Exception):
    """A JSON-RPC error answer."""

    def __init__(self, error):
        super().__init__(error)
        self.code = error["code"]
        self.message = error["message"]
        self.data = error.get("data")


class AcpClient:
    """`updates` holds the `session/update`s seen so far; `noise` lines that are no JSON objects."""

    def __init__(self, environ, cwd, *, initialize=True, forms=True):
        self.cwd = str(cwd)
        self.home = environ["HYBRIDMUX_DEMO_HOME"]
        self.updates = []
        self.noise = []
        self.requests = []
        self.process = subprocess.Popen(
            [*COMMAND, "acp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
            cwd=cwd,
            start_new_session=True,
        )
        self._lines = queue.Queue()
        self._answers = {}
        self._id = 0
        self.stderr = b""
        self._threads = [threading.Thread(target=t) for t in (self._read, self._drain)]
        for thread in self._threads:
            thread.start()
        if initialize:
            elicitation = {"elicitation": {"form": {}}} if forms else {}
            self.initialized = self.call("initialize", protocolVersion=1, clientCapabilities=elicitation)

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _drain(self):
        while data := self.process.stderr.read(65536):
            self.stderr = (self.stderr + data)[-65536:]

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def notify(self, method, **params):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode() + b"\n")

    def send(self, method, **params):
        """Sends a request; `answer` waits for what it was answered with."""
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self.write(json.dumps(message).encode() + b"\n")
        return self._id

    def call(self, method, **params):
        return self.answer(self.send(method, **params))

    def prompt(self, session, text, *blocks):
        return self.call("session/prompt", sessionId=session, prompt=content(text, *blocks))

    def start_prompt(self, session, text):
        return self.send("session/prompt", sessionId=session, prompt=content(text))

    def answer(self, number, seconds=DEADLINE):
        self.until(lambda: number in self._answers, seconds)
        message = self._answers.pop(number)
        if "error" in message:
            raise Answered(message["error"])
        return message["result"]

    def answered(self, number):
        """Whether an answer came, after taking in what is there."""
        self.take(0.0)
        return number in self._answers

    def request(self, method):
        """The agent's next request of this method."""
        self.until(lambda: any(r["method"] == method for r in self.requests))
        found = next(r for r in self.requests if r["method"] == method)
        self.requests.remove(found)
        return found

    def reply(self, request, result):
        message = {"jsonrpc": "2.0", "id": request["id"], "result": result}
        self.write(json.dumps(message).encode() + b"\n")

    def until(self, condition, seconds=DEADLINE):
        end = time.monotonic() + seconds
        while not condition():
            came = self.take(max(end - time.monotonic(), 0.0))
            assert came or condition(), f"nothing came in {seconds} s, or all has come"

    def take(self, seconds):
        """Takes one line; False when none came or stdout ended."""
        try:
            line = self._lines.get(timeout=seconds) if seconds else self._lines.get_nowait()
        except queue.Empty:
            return False
        if line is None:
            self._lines.put(None)
            return False
        try:
            message = json.loads(line)
        except ValueError:
            self.noise.append(line)
            return True
        if not isinstance(message, dict):
            self.noise.append(line)
        elif message.get("method") == "session/update":
            self.updates.append(message["params"]["update"])
        elif "method" in message:
            self.requests.append(message)
        elif "id" in message:
            self._answers[message["id"]] = message
        return True

    def drain(self):
        """Takes everything up to the end of stdout."""
        self.until(lambda: self._lines.queue and self._lines.queue[0] is None)

    def texts(self, kind):
        """The text of all chunks of a kind (`agent`, `user`, `thought`), joined by message."""
        joined = {}
        for update in self.updates:
            if update["sessionUpdate"] == CHUNKS[kind]:
                key = update["messageId"]
                joined[key] = joined.get(key, "") + update["content"].get("text", "")
        return list(joined.values())

    def kinds(self):
        return [update["sessionUpdate"] for update in self.updates]

    def tools(self):
        """Tool calls by id, patches applied."""
        found = {}
        for update in self.updates:
            if update["sessionUpdate"] in ("tool_call", "tool_call_update"):
                found.setdefault(update["toolCallId"], {}).update(update)
        return list(found.values())

    def new(self):
        return self.call("session/new", cwd=self.cwd, mcpServers=[])["sessionId"]

    def load(self, session):
        return self.call("session/load", sessionId=session, cwd=self.cwd, mcpServers=[])

    def close(self, seconds=DEADLINE):
        """Closes stdin; answers the exit status."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        return self.process.wait(seconds)

    def end(self):
        """Leaves nothing behind, whatever state the agent is in."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(0.5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for thread in self._threads:
            thread.join()
        self.process.stdout.close()
        self.process.stderr.close()


def wait_for(condition, seconds=DEADLINE):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def content(text, *blocks):
    return [{"type": "text", "text": text}, *blocks]


def selected(option):
    return {"outcome": {"outcome": "selected", "optionId": option}}


def exits(client, seconds=DEADLINE):
    """The exit status; None if the process is still there after `seconds`."""
    try:
        return client.process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
