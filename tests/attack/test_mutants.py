"""Damaged files are refused or run; none reads what is not its own.

HOTARU_ATTACK_MUTANTS is how many of each kind are made.
"""

import os

import mutant_attack
import pytest

COUNT = int(os.environ.get("HOTARU_ATTACK_MUTANTS", "600"))


@pytest.mark.parametrize("kind", mutant_attack.KINDS)
def test_damaged_files(kind, tmp_path):
    command = None
    if kind == "npy":
        program = mutant_attack.find_command()
        assert program, "the command hotaru is missing"
        command = mutant_attack.Command(program)
    found = []
    for number, data, text in mutant_attack.attack(kind, COUNT, 0, command):
        path = tmp_path / f"{kind}-{number}"
        path.write_bytes(data)
        found.append(f"{path}: {text}")
    assert not found, "\n".join(found)
