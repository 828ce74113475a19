"""Many random operations with random faults over a real server, and what must hold all along.

contract.py   which answer is allowed for which request (pure)
faults.py     what the demo agent may do wrong, and when (pure)
ledger.py     what was said, and what must come of it (pure)
figures.py    what is counted, and the table of it (pure)
subject.py    one session under test: where it is, its resume, its checks
turns.py      turns and what may be under way when a switch comes
switching.py  a switch, as clients do it and as things go wrong
mishaps.py    closing, kills, requests to the wrong side
run.py        the whole of it; `scripts/soak` and the test-suite call it
"""
