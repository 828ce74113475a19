"""Asking an installed program for its version or its help text: bounded, ended afterwards, remembered.

A question needs no network and no login. It runs in a session of its own, with nothing to read, with a
temp folder that is removed, and everything it has started is ended before the answer is given.
"""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b

import trio
from attrs import frozen

from hybridmux.acp.background import background
from hybridmux.acp.program import Program, open_program
from hybridmux.agents.launch import Launch
from hybridmux.agents.programs import identity, locate
from hybridmux.agents.temp import temp_folder
from hybridmux.budgets import (
    ANSWER_SECONDS,
    ANSWERS,
    ASK_BYTES,
    ASK_SECONDS,
    ASK_STEP,
    ERROR_CHARS,
    EXIT_GRACE,
    Budgets,
)
from hybridmux.proc.mark import ENV, Mark, new_run
from hybridmux.proc.spawn import SpawnFailed

_OURS = ("TMPDIR", "BUN_TMPDIR", "NO_COLOR", "PWD", "SHLVL", "_", ENV)
"""Variables that a question has other values of than the program itself would."""
_BUDGETS = Budgets(stopping_step=ASK_STEP)


@frozen(kw_only=True)
class Answer:
    """What a program said."""

    output: str = ""
    errors: tuple[str, ...] = ()
    """Its last lines on stderr."""
    trouble: str | None = None
    """Why this is no answer: `did not answer within 5 s`, `ended with exit code 1: …`."""

    @property
    def text(self) -> str:
        """All it said."""
        return "\n".join((self.output, *self.errors))


_remembered: dict[tuple[object, ...], tuple[float, Answer]] = {}


async def ask(
    command: Sequence[str], option: str, env: Mapping[str, str], cwd: str, *, seconds: float = ASK_SECONDS
) -> Answer:
    """What `command option` prints. Good answers are remembered while the command's files stay the same, for
    the same environment and folder."""
    key = _key((*command, option), len(command), env, cwd)
    now = time.monotonic()
    known = _remembered.get(key) if key else None
    if known and known[0] > now:
        return known[1]
    answer = await run((*command, option), env, cwd, seconds=seconds)
    if key and answer.trouble is None:
        _remembered.pop(key, None)
        while len(_remembered) >= ANSWERS:
            _remembered.pop(next(iter(_remembered)))
        _remembered[key] = (now + ANSWER_SECONDS, answer)
    return answer


def _key(argv: Sequence[str], words: int, env: Mapping[str, str], cwd: str) -> tuple[object, ...] | None:
    """What an answer depends on; None where that cannot be told."""
    try:
        program = locate(argv[0], env, cwd)
    except SpawnFailed:
        return None
    scripts = [os.path.join(cwd, one) for one in argv[1:words]]  # noqa: PTH118
    seen = [identity(file) for file in (program, *scripts)]
    return None if None in seen else (*argv, _fingerprint(env), cwd, *seen)


def _fingerprint(env: Mapping[str, str]) -> bytes:
    """Any variable may choose the version behind a version manager's file; values are not kept."""
    told = sorted(f"{name}={value}" for name, value in env.items() if name not in _OURS)
    return blake2b("\0".join(told).encode("utf-8", "surrogatepass")).digest()


async def run(
    argv: Sequence[str], env: Mapping[str, str], cwd: str, *, seconds: float = ASK_SECONDS
) -> Answer:
    """One run to its end, or to the deadline; never raises for what the program does or the machine lacks."""
    mark = Mark(data="question", session="question", start=new_run(), run=new_run())
    try:
        async with (
            temp_folder() as temp,
            open_program(
                argv,
                cwd=cwd,
                env={**env, "NO_COLOR": "1", "TMPDIR": temp, "BUN_TMPDIR": temp},
                mark=mark,
                budgets=_BUDGETS,
            ) as program,
        ):
            await program.stream.close_output()
            output = bytearray()
            with trio.move_on_after(seconds):
                await _to_the_end(program, output)
            return _answer(program, bytes(output), seconds)
    except (SpawnFailed, OSError) as exc:
        return Answer(trouble=f"cannot be run: {exc}")


async def _to_the_end(program: Program, output: bytearray) -> None:
    """Reads while it runs; a child of it that keeps the output open is not waited for."""
    async with background() as nursery:

        async def read() -> None:
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                while len(output) <= ASK_BYTES and (piece := await program.stream.receive_some()):
                    output.extend(piece)
            if len(output) > ASK_BYTES:
                nursery.cancel_scope.cancel()
            done.set()

        done = trio.Event()
        nursery.start_soon(read)
        await program.wait()
        with trio.move_on_after(EXIT_GRACE):
            await done.wait()


def _answer(program: Program, output: bytes, seconds: float) -> Answer:
    said = output[:ASK_BYTES].decode("utf-8", "surrogateescape")
    errors = tuple(program.stderr.lines())
    code, trouble = program.exit_code, None
    if len(output) > ASK_BYTES:
        trouble = "prints without end"
    elif code is None:
        trouble = f"did not answer within {seconds:g} s"
    elif code:
        how = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
        trouble = f"{how}: {errors[-1][:ERROR_CHARS]}" if errors else how
    return Answer(output=said, errors=errors, trouble=trouble)


async def surroundings(
    launch: Launch, env: Mapping[str, str], cwd: str, *, seconds: float = ASK_SECONDS
) -> dict[str, str] | None:
    """The environment that the launch's program will see: its shell, if it has one, may change PATH and all
    else. None if the shell did not get so far."""
    if not launch.wrapper:
        return dict(env)
    argv = launch.wrapped(("/bin/sh", "-c", "printf '\\0'; exec env -0"))
    answer = await run(argv, env, cwd, seconds=seconds)
    # What the shell's own start files print comes first.
    _, _, text = answer.output.partition("\0")
    if answer.trouble or not text:
        return None
    seen = dict(one.split("=", 1) for one in text.split("\0") if "=" in one)
    kept = {key: env[key] for key in _OURS if key in env}
    return {**{key: value for key, value in seen.items() if key not in _OURS}, **kept}
