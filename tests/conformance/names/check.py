"""Which of PyTorch's public names hotaru has: `have / total` per namespace.

    check.py [--missing] [--signatures] [--left-out] [NAMESPACE ...]
    check.py --report docs/compatibility.md

The names are PyTorch 2.14.1's, kept in names.txt (oracle.py makes it), and
those of 2.15 that are known of, in since.txt. Names of groups.py are left out
of the totals, and shown apart.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import enum
import importlib
import inspect
import itertools
import re
import textwrap
import warnings
from pathlib import Path
from typing import NamedTuple

import imports
from groups import GROUPS, MISSING, group_of, reason_of
from hotaru._alias import install

HERE = Path(__file__).parent
NAMES = HERE / "names.txt"
SINCE = HERE / "since.txt"
VERSION = "2.14.1"
# Names of arguments of PyTorch's functions that nobody passes by name.
_OWN = {"self", "cls"}


class Name(NamedTuple):
    """One of PyTorch's names, and what hotaru has of it."""

    space: str
    name: str
    have: bool
    # Names that its parameters lack, "" if none; None where one does not say.
    lacks: str | None

    @property
    def full(self) -> str:
        return f"{self.space.removeprefix('class ')}.{self.name}"

    @property
    def top(self) -> str:
        """As "torch.nn" for everything below it."""
        space = self.space.removeprefix("class ")
        parts = space.split(".")
        if self.space.startswith("class "):
            parts = parts[:-1]
        return ".".join(parts[:2])


def kept() -> list[tuple[str, list[str]]]:
    """Namespaces with their lines, of both files."""
    found: list[tuple[str, list[str]]] = []
    for line in (NAMES.read_text() + SINCE.read_text()).splitlines():
        if line.startswith(" "):
            found[-1][1].append(line[1:])
        else:
            found.append((line, []))
    return found


def resolve(space: str):
    """A module or class by its name; None if hotaru has none."""
    if not space.startswith("class "):
        with contextlib.suppress(Exception):
            return importlib.import_module(space)
        return None
    module, _, name = space.removeprefix("class ").rpartition(".")
    return getattr(resolve(module), name, None)


_assigned: dict[type, set[str]] = {}


def attributes(kind: type) -> set[str]:
    """Attributes that objects of a class have beside the class's own."""
    if kind not in _assigned:
        names: set[str] = set()
        for base in kind.__mro__:
            names.update(getattr(base, "__annotations__", ()))
            with contextlib.suppress(OSError, TypeError):
                text = inspect.getsource(base)
                names.update(re.findall(r"\bself\.(\w+)(?:: [^=\n]+)? =", text))
        _assigned[kind] = names
    return _assigned[kind]


def has(owner, name: str) -> bool:
    with contextlib.suppress(Exception):
        if hasattr(owner, name):
            return True
    if isinstance(owner, enum.EnumMeta) and name in ("name", "value"):
        return True  # of members
    return isinstance(owner, type) and name in attributes(owner)


def lacking(owner, name: str, wanted: str) -> str | None:
    """The parameters of PyTorch's that a function does not take.

    Args:
        wanted: as names.txt has them, "(input,p=,*,out=)".

    Returns:
        As "p, out="; a parameter with "=" must be optional. None if the
        function does not say what it takes.
    """
    try:
        value = getattr(owner, name)
        if isinstance(value, type) and isinstance(owner, type):
            return None
        found = inspect.signature(value).parameters
    except Exception:
        return None
    kinds = {p.kind for p in found.values()}
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return ""
    missing = []
    for part in wanted.strip("()").split(","):
        plain = part.rstrip("=")
        if not plain or plain in _OWN or plain.startswith(("*", "_")):
            continue
        ours = found.get(plain)
        positional = inspect.Parameter.VAR_POSITIONAL in kinds
        if ours is None and positional and not part.endswith("="):
            continue
        optional = ours is not None and ours.default is not ours.empty
        if ours is None or (part.endswith("=") and not optional):
            missing.append(part)
    return ", ".join(missing)


def look() -> list[Name]:
    """Every kept name beside what hotaru has."""
    found = []
    for space, lines in kept():
        owner = resolve(space)
        for line in lines:
            name, bracket, rest = line.partition("(")
            have = owner is not None and has(owner, name)
            lacks = None
            if have and bracket:
                lacks = lacking(owner, name, bracket + rest)
            found.append(Name(space, name, have, lacks))
    return found


class Count:
    def __init__(self) -> None:
        self.have = self.total = self.same = self.said = 0

    def add(self, name: Name) -> None:
        self.total += 1
        self.have += name.have
        self.said += name.lacks is not None
        self.same += name.lacks == ""

    def __str__(self) -> str:
        share = 100 * self.have / max(self.total, 1)
        return f"{self.have} / {self.total} ({share:.1f} %)"


def counts(names, key) -> dict[str, Count]:
    found: dict[str, Count] = collections.defaultdict(Count)
    for name in names:
        found[key(name)].add(name)
    return dict(sorted(found.items()))


def split(names):
    """Parts names: those that count, and others by their group's title."""
    counted, left = [], collections.defaultdict(list)
    for name in names:
        group = group_of(name.full)
        if group is None:
            counted.append(name)
        else:
            left[group.title].append(name)
    return counted, left


def total(names) -> Count:
    count = Count()
    for name in names:
        count.add(name)
    return count


def missing_lines(counted) -> list[str]:
    """Lines of what is missing, by why it is, and by namespace."""
    gone = [n for n in counted if not n.have]
    lines = []
    for group in (*MISSING, None):
        spaces = collections.defaultdict(list)
        for n in gone:
            if reason_of(n.full) is group:
                spaces[n.space.removeprefix("class ")].append(n.name)
        if not spaces:
            continue
        count = sum(map(len, spaces.values()))
        text = (
            f"**Not written yet** ({count})."
            if group is None
            else f"**{group.title}** ({count}). {group.reason}"
        )
        lines += ["", text, ""]
        lines += [f"- `{s}`: {', '.join(n)}" for s, n in sorted(spaces.items())]
    return lines


def report(counted, left) -> str:
    """The page docs/compatibility.md."""
    whole = total(counted)
    everything = total([*counted, *itertools.chain(*left.values())])
    lines = [
        "# Names of PyTorch that hotaru has",
        "",
        "Made by `./dev names --report docs/compatibility.md` from the public "
        f"names of PyTorch {VERSION} (`tests/conformance/names/names.txt`) and "
        "those of 2.15 that its documentation and sources tell of "
        "(`since.txt`): "
        "functions, classes and constants of modules, and what classes define. "
        "A name is public if the module's `__all__` has it; where there is "
        "none, if the module made it and it starts with no underscore. "
        "Parameters are compared where Python knows both sides: each of "
        "PyTorch's has to be taken by its name, and be optional where it is "
        "there. That a name does the same is what "
        "[conformance.md](conformance.md) is about.",
        "",
        f"**{whole}** of the names that are counted; parameters "
        f"{whole.same} / {whole.said}. Of all names, those that are left out "
        f"of the count below included: {everything}.",
        "",
        "| namespace | names | of which missing | parameters |",
        "| --- | ---: | ---: | ---: |",
    ]
    for top, count in counts(counted, lambda n: n.top).items():
        missing = count.total - count.have
        lines.append(
            f"| `{top}` | {count.have} / {count.total} | {missing or '–'} | "
            f"{count.same} / {count.said} |"
        )
    lines += ["", "## Left out of the count", ""]
    for group in GROUPS:
        there = total(left[group.title])
        lines.append(
            f"- **{group.title}** ({there.have} / {there.total} are there "
            f"nevertheless). {group.reason}"
        )
    lines += ["", "## Missing", *missing_lines(counted)]
    lines += ["", "## Parameters that are not taken", ""]
    for name in sorted(n for n in counted if n.lacks):
        lines.append(f"- `{name.full}`: {name.lacks}")
    lines += imports.report()
    return "\n".join(map(wrapped, lines)) + "\n"


def wrapped(line: str) -> str:
    """A paragraph or an item in lines that can be read; tables stay."""
    if line.startswith(("|", "#")):
        return line
    return textwrap.fill(
        line,
        96,
        subsequent_indent="  " if line.startswith("- ") else "",
        break_long_words=False,
        break_on_hyphens=False,
    )


def show(counted, left, options) -> None:
    for space, count in counts(counted, lambda n: n.space).items():
        short = space.removeprefix("class ")
        if options.namespace and not short.startswith(tuple(options.namespace)):
            continue
        if count.have == count.total and not options.namespace:
            continue
        print(f"{space} {count.have} / {count.total}")
        if options.missing:
            gone = [n.name for n in counted if n.space == space and not n.have]
            print(f"    {' '.join(gone)}")
    if options.signatures:
        for name in counted:
            if name.lacks and name.full.startswith(
                tuple(options.namespace or ("torch",))
            ):
                print(f"{name.full}: {name.lacks}")
    for title, names in left.items():
        print(f"left out: {title} {total(names)}")
    whole = total(counted)
    print(f"parameters {whole.same} / {whole.said}")
    print(f"names {whole}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("namespace", nargs="*")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--signatures", action="store_true")
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    install()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        counted, left = split(look())
    if options.report:
        options.report.write_text(report(counted, left), encoding="utf-8")
        print(f"{options.report}: {total(counted)}")
        return
    show(counted, left, options)


if __name__ == "__main__":
    main()
