"""What a program asks its terminal: answered once, viewers or none."""

import re

import pytest
import trio

ASK = r"""
stty raw -echo
ask() { printf "$1"; dd bs=1 count="$2" 2>/dev/null | od -An -c | tr -d ' \n'; }
"""


async def said(t):
    """All that the program has shown at its end."""
    with trio.fail_after(10):
        await t.wait_exited()
        while not t.journal.closed:
            await t.journal.wait(t.journal.end)
    return t.journal.read(0, 10**6).decode()


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (r"\033[6n", "[1;1R"),
        (r"\033[?6n", "[?1;1R"),
        (r"ab\033[6n", "[1;3R"),
        (r"\r\n\n  \033[6n", "[3;3R"),
        (r"\033[12;40H\033[6n", "[12;40R"),
        (r"\033[99;999H\033[6n", "[24;80R"),
        # Behind the last column, where the next character wraps.
        (r"\033[1;80Hx\033[6n", "[1;80R"),
        # With origin mode rows count from the region's first.
        (r"\033[5;20r\033[?6h\033[3;2H\033[6n", "[3;2R"),
        (r"\344\270\255\033[6n", "[1;3R"),
    ],
)
async def test_the_cursor(terminal, asked, answer):
    async with terminal(ASK + f"ask '{asked}' {len(answer) + 1}", cols=80, rows=24) as t:
        shown = await said(t)
    assert shown.endswith("033" + answer)
    assert not re.search("\x1b\\[\\??6n", shown)


async def test_after_a_change_of_size(terminal, shows):
    script = ASK + r"printf '\033[30;90Hready'; read -r _; ask '\033[6n' 8"
    async with terminal(script, cols=100, rows=36) as t:
        await shows(t, "ready")
        t.resize(60, 20)
        await t.write(b"\n")
        assert (await said(t)).endswith("033[20;60R")


async def test_a_program_that_asks_and_never_reads_is_no_trouble(terminal, shows):
    script = r"""
    stty raw -echo; i=0
    while [ $i -lt 3000 ]; do printf '\033[6n'; i=$((i+1)); done
    echo done; sleep 60"""
    async with terminal(script) as t:
        await shows(t, "done")
        assert t.journal.read(0, 10**6) == b"done\n"
