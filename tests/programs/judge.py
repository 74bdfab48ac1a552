"""Compares what one script printed on the two sides."""

from __future__ import annotations

import json
import math


def lines_of(text: str) -> list[tuple[str, object]]:
    """(name, value) of each line that probe.emit printed."""
    found = []
    for line in text.splitlines():
        if line.startswith('{"name": '):
            row = json.loads(line)
            found.append((row["name"], row["value"]))
    return found


def difference(want, have, rtol: float, where: str = "") -> str | None:
    """The first place where two values differ, in words; None if nowhere."""
    if isinstance(want, dict) and isinstance(have, dict):
        return _of_dicts(want, have, rtol, where)
    if isinstance(want, list) and isinstance(have, list):
        return _of_lists(want, have, rtol, where)
    if isinstance(want, float) and isinstance(have, (int, float)):
        near = _near(want, have, rtol * abs(want) + 1e-12)
    else:
        near = type(want) is type(have) and want == have
    return None if near else f"{where}: {have!r}, PyTorch {want!r}"


def _near(want: float, have: float, allowed: float) -> bool:
    if math.isnan(want) or math.isnan(have):
        return math.isnan(want) and math.isnan(have)
    return want == have or abs(want - have) <= allowed


def _of_dicts(want: dict, have: dict, rtol: float, where: str) -> str | None:
    if list(want) != list(have):
        names = sorted(set(want) ^ set(have)) or "in another order"
        return f"{where}: keys {names}"
    if "printed" in want:
        return _of_printed(want, have, rtol, where)
    for key, value in want.items():
        found = difference(value, have[key], rtol, f"{where}.{key}")
        if found:
            return found
    return None


def _of_lists(want: list, have: list, rtol: float, where: str) -> str | None:
    if len(want) != len(have):
        return f"{where}: {len(have)} items, PyTorch {len(want)}"
    numbers = [v for v in want if isinstance(v, float) and math.isfinite(v)]
    if numbers and len(numbers) == sum(isinstance(v, float) for v in want):
        # Relative to the largest: sums that cancel have no digits of their own.
        allowed = rtol * max(map(abs, numbers)) + 1e-12
        for k, (a, b) in enumerate(zip(want, have)):
            if not isinstance(b, (int, float)) or not _near(a, b, allowed):
                return f"{where}[{k}]: {b!r}, PyTorch {a!r}"
        return None
    for k, (a, b) in enumerate(zip(want, have)):
        found = difference(a, b, rtol, f"{where}[{k}]")
        if found:
            return found
    return None


def _of_printed(want: dict, have: dict, rtol: float, where: str) -> str | None:
    """Lines of a program: the same words, numbers to their last digit."""
    if want["text"] != have["text"]:
        return f"{where}: {have['text']!r}, PyTorch {want['text']!r}"
    for a, b in zip(want["printed"], have["printed"]):
        if not _near(float(a), float(b), rtol * abs(float(a)) + _unit(a)):
            return f"{where}: {want['text']!r}: {b}, PyTorch {a}"
    return None


def _unit(number: str) -> float:
    """One in the last place of a number with decimals, else nothing."""
    mantissa, _, exponent = number.lower().partition("e")
    if "." not in mantissa:
        return 0.0
    places = len(mantissa.split(".")[1])
    return 1.01 * 10.0 ** (int(exponent or 0) - places)


def verdict(want: str, have: str, rtol: float) -> str | None:
    """How the second side's output differs from the first's, or None."""
    ours, theirs = lines_of(have), lines_of(want)
    if not theirs:
        return "PyTorch's side printed nothing"
    for (name, a), (other, b) in zip(theirs, ours):
        if name != other:
            return f"printed {other!r} where PyTorch printed {name!r}"
        found = difference(a, b, rtol, name)
        if found:
            return found
    if len(ours) != len(theirs):
        return f"{len(ours)} lines, PyTorch {len(theirs)}"
    return None
