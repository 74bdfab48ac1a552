"""The globals that a pickle refers to."""

from __future__ import annotations

import pickletools

TEXTS = ("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8")
GETS = ("BINGET", "LONG_BINGET", "GET")
PUTS = ("BINPUT", "LONG_BINPUT", "PUT")


def pickled_names(data: bytes) -> list[tuple[str, str]]:
    """Pairs of module and name, in order, as often as they stand there."""
    found = []
    memo: dict[int, str | None] = {}
    recent: list[str | None] = [None, None]  # what the last values were
    for opcode, argument, _ in pickletools.genops(data):
        kind = opcode.name
        if kind == "GLOBAL":
            module, _, name = argument.partition(" ")
            found.append((module, name))
        elif kind == "STACK_GLOBAL" and None not in recent:
            found.append(tuple(recent))
        if kind == "MEMOIZE":
            memo[len(memo)] = recent[-1]
        elif kind in PUTS:
            memo[argument] = recent[-1]
        elif kind in TEXTS:
            recent = [recent[-1], argument]
        elif kind in GETS:
            recent = [recent[-1], memo.get(argument)]
        elif kind != "FRAME":
            recent = [recent[-1], None]
    return found
