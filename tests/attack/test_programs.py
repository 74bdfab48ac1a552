"""Random programs give the same values however they are run.

PyTorch, the other side of the same attack, is no part of the tests: see
program_attack.py --peer.
"""

import os
import sys

import program_attack

SECONDS = float(os.environ.get("HOTARU_ATTACK_SECONDS", "0"))
FEW = 2000  # programs, where no time is given


def test_eager_queued_graphed_and_other_layouts_agree():
    own = program_attack.Worker(sys.executable, "hotaru")
    found = []
    try:
        seeds = program_attack.seeds_for(SECONDS) if SECONDS else range(FEW)
        for seed in seeds:
            given = program_attack.program(seed)
            wrong = program_attack.attack(given, own, None)
            if wrong:
                found.append(f"seed {seed}: {wrong}")
    finally:
        own.close()
    assert not found, "\n".join(found)
