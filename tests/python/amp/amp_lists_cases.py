"""Which operators PyTorch's autocast stands before; hotaru's own lists are
compared with what is recorded of these (test_amp_lists.py).
"""

from __future__ import annotations


def _registered(key: str):
    def names(lib) -> list[str]:
        found = lib._C._dispatch_get_registrations_for_dispatch_key(key)
        return sorted(name.removeprefix("aten::") for name in found)

    return names


CASES = {"cpu": _registered("AutocastCPU"), "cuda": _registered("AutocastCUDA")}
