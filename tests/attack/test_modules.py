"""Graphs and compiled code notice whatever changes the modules they use.

HOTARU_ATTACK_SECONDS is how long programs are drawn at random.
"""

import os
import random
import time

import module_attack
import pytest

SECONDS = float(os.environ.get("HOTARU_ATTACK_SECONDS", "20"))


@pytest.mark.parametrize("part", range(8))
def test_every_action_is_noticed(part):
    found = []
    for name, trial in list(module_attack.singles())[part::8]:
        wrong = module_attack.attack(trial)
        wrong.pop("note", None)
        if wrong:
            found.append(f"{name}: {wrong}")
    assert not found, "\n".join(found)


def test_random_programs_are_noticed():
    deadline, seed = time.monotonic() + SECONDS, 0
    while time.monotonic() < deadline:
        trial = module_attack.random_trial(random.Random(seed))
        wrong = module_attack.attack(trial)
        wrong.pop("note", None)
        assert not wrong, (seed, wrong, trial)
        seed += 1
