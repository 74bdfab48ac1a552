"""Graphs and compiled code notice whatever changes the modules they use.

Every action is tried at one of its four places, the next action at the next
place; with HOTARU_ATTACK_ALL=1 each at all of them (four times as long).
Of programs at random some are tried, or those of HOTARU_ATTACK_SECONDS.
"""

import os
import random
import time

import module_attack
import pytest

SECONDS = float(os.environ.get("HOTARU_ATTACK_SECONDS", "0"))
FEW = 80
EVERYWHERE = os.environ.get("HOTARU_ATTACK_ALL") == "1"
PLACES, PARTS = 4, 8


def singles():
    """Trials, of which PLACES after each other are of one action."""
    return [
        trial
        for i, trial in enumerate(module_attack.singles())
        if EVERYWHERE or i % PLACES == i // PLACES % PLACES
    ]


@pytest.mark.parametrize("part", range(PARTS))
def test_every_action_is_noticed(part):
    found = []
    for name, trial in singles()[part::PARTS]:
        wrong = module_attack.attack(trial)
        wrong.pop("note", None)
        if wrong:
            found.append(f"{name}: {wrong}")
    assert not found, "\n".join(found)


def test_random_programs_are_noticed():
    deadline, seed = time.monotonic() + SECONDS, 0
    while seed < FEW or time.monotonic() < deadline:
        trial = module_attack.random_trial(random.Random(seed))
        wrong = module_attack.attack(trial)
        wrong.pop("note", None)
        assert not wrong, (seed, wrong, trial)
        seed += 1
