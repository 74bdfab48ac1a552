"""Results of the tests: a table by file, and what is left by reason."""

from __future__ import annotations

import collections
import re
import textwrap

# status, seconds, exception, where; by the test's name
Row = tuple[str, float, str, str]
Found = dict[str, dict[str, Row]]

TITLE = "# PyTorch's own tests over hotaru"
_COLUMNS = {"F": "fail", "E": "error", "C": "crash", "H": "hang"}
_LOW = re.compile(
    r"(complex32|chalf|uint16|uint32|uint64|float8\w+|quint8|qint8|qint32)$"
)
_NO_ATTRIBUTE = re.compile(
    r"(?:module '([\w.]+)'|'([\w.]+)' object|type object '([\w.]+)').* "
    r"has no attribute '(\w+)'"
)
_NO_MODULE = re.compile(r"No module named '([\w.]+)'|cannot import name '(\w+)'")
# By text, the first that fits; names and dtypes come before.
_REASONS = (
    (r"no back end|not implemented|NotImplementedError", "not implemented"),
    (r"not close|not equal|not almost equal", "another value"),
    (r"does not match", "another text of an error or a warning"),
    (r"not raised|not triggered", "accepts what PyTorch refuses"),
    (r"^AssertionError", "another behaviour"),
    (r"", "refuses what PyTorch accepts"),
)
_STATUS = {
    "C": "a crash",
    "H": "no end within the limit",
    "L": "the file does not load",
    "N": "the file makes no such test",
    "S": "skips itself",
    "T": "out of time",
    "X": "an expected failure",
    "-": "no result",
}


def passed(rows: dict[str, Row]) -> set[str]:
    return {name for name, row in rows.items() if row[0] == "P"}


def _share(right: int, of: int) -> str:
    return f"{right} of {of} ({100 * right / max(of, 1):.1f} %)"


def line(file: str, rows: dict[str, Row]) -> str:
    """One file's counts as a sentence."""
    counts = collections.Counter(row[0] for row in rows.values())
    rest = [f"{counts[s]} {text}" for s, text in _COLUMNS.items() if counts[s]]
    others = len(rows) - counts["P"] - sum(counts[s] for s in _COLUMNS)
    rest += [f"{others} other"] if others else []
    told = f" ({', '.join(rest)})" if rest else ""
    return f"{file}: {_share(counts['P'], len(rows))}{told}"


def _table(found: Found) -> str:
    heads = ["file", "passed", *_COLUMNS.values(), "other"]
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " ---: |" * (len(heads) - 1)]
    for file, rows in sorted(found.items()):
        counts = collections.Counter(row[0] for row in rows.values())
        right = counts.pop("P", 0)
        cells = [counts.pop(status, 0) for status in _COLUMNS]
        cells.append(sum(counts.values()))
        shown = " | ".join(str(cell or "–") for cell in cells)
        lines.append(f"| `{file}` | {_share(right, len(rows))} | {shown} |")
    return "\n".join(lines)


def missing_name(test: str, text: str) -> str | None:
    """The name that a test misses, if that is what is wrong."""
    said = re.search(r"MISSING ([\w.]+)", text)
    low = _LOW.search(test)
    if said:
        return said.group(1)
    if low and "Missing" in text:
        return "torch." + low.group(1).replace("chalf", "complex32")
    attribute = _NO_ATTRIBUTE.search(text)
    if attribute:
        *owners, name = attribute.groups()
        owner = next(o for o in owners if o).replace("hotaru", "torch")
        return f"{owner}.{name}"
    module = _NO_MODULE.search(text)
    if module:
        return (module.group(1) or module.group(2)).replace("hotaru", "torch")
    return None


def _reason(test: str, row: Row) -> str:
    status, _, text, _ = row
    if status in _STATUS:
        return _STATUS[status]
    text = text.split(" || ")[0]
    name = missing_name(test, text)
    if name is not None:
        dtype = name.startswith("torch.") and _LOW.search(name)
        return "a dtype that is not there" if dtype else "a missing name"
    return next(r for pattern, r in _REASONS if re.search(pattern, text))


def _left(found: Found) -> str:
    groups: dict = collections.defaultdict(list)
    for file, rows in found.items():
        for test, row in rows.items():
            if row[0] != "P":
                groups[_reason(test, row)].append((file, test, row[2]))
    lines = ["| reason | tests | most of them in | for example |"]
    lines.append("| --- | ---: | --- | --- |")
    for reason, tests in sorted(groups.items(), key=lambda g: -len(g[1])):
        files = collections.Counter(file for file, *_ in tests).most_common(3)
        where = ", ".join(f"`{file}` {count}" for file, count in files)
        _, test, text = tests[len(tests) // 2]
        shown = text.split("\n")[0][:80].replace("|", "\\|").replace("`", "'")
        lines.append(f"| {reason} | {len(tests)} | {where} | `{test}`: {shown} |")
    return "\n".join(lines)


def most_missed(found: Found, most: int) -> list[tuple[str, int]]:
    """The names that most tests miss."""
    names: collections.Counter = collections.Counter()
    for rows in found.values():
        for test, row in rows.items():
            if row[0] in ("F", "E"):
                name = missing_name(test, row[2].split(" || ")[0])
                names.update([name] if name else [])
    return names.most_common(most)


def clustered(found: Found, most: int) -> str:
    """The most frequent texts, numbers apart, with an example of each."""
    groups: dict = collections.defaultdict(list)
    for file, rows in found.items():
        for test, row in rows.items():
            if row[0] == "P":
                continue
            text = row[2].split(" || ")[0]
            name = missing_name(test, text)
            first = re.sub(r"\d+(\.\d+)?(e[-+]\d+)?", "#", text.split("\n")[0])
            key = f"missing {name}" if name else f"{row[0]} {first[:110]}"
            groups[key].append(f"{file}: {test}")
    rows = sorted(groups.items(), key=lambda g: -len(g[1]))[:most]
    return "\n".join(f"{len(g):5} {key}   {g[0]}" for key, g in rows)


# Causes as they were looked at, which names and texts alone do not tell.
RANKED = (
    "Ranked by cause, of the 938 that fail of a quarter (7,548): other "
    "behaviour and texts of TorchScript about 350; the layout of oneDNN 119, "
    "whose tests skip themselves; insides of TorchScript's executor (fusion "
    "groups, symbolic shapes, bytecode) 62; C++ libraries that those tests "
    "build 51; events of the profiler 46; autograd 46; keys of the dispatcher "
    "30; views under the older `vmap` 21; copies on write and negative views "
    "21; `torch._refs` and `torch._prims` 18; `Await` in scripts 12; "
    "attributes of frozen modules 12; functions that `torch.overrides` does "
    "not name 12; bundled inputs 10."
)


def page(found: Found, version: str) -> str:
    """The page docs/conformance_tests.md."""
    right = sum(len(passed(rows)) for rows in found.values())
    of = sum(map(len, found.values()))
    missed = ", ".join(f"`{name}` {n}" for name, n in most_missed(found, 20))
    parts = [
        TITLE,
        "Made by `./dev conformance --suite tests --tests DIR --report "
        "docs/conformance.md`: the test files of PyTorch 2.6 over hotaru. "
        "Counted are the tests (of large files a fixed choice) that PyTorch "
        f"{version} passes on the CPU in the same harness. "
        f"**{_share(right, of)} pass.** Tests of PyTorch's insides (dispatch "
        "modes, its compiler, `torch._C`) count like others; a missing name "
        "can hide what is behind it. Those that are promised to pass are "
        "listed in `tests/conformance/known/tests/`; "
        "`tests/conformance/suite/main.py` says where DIR comes from. The "
        "rest of the suite is in [conformance.md](conformance.md).",
        _table(found),
        "## What is left",
        _left(found),
        f"The names that most tests miss: {missed}.",
        RANKED,
    ]
    return "\n\n".join(map(wrapped, parts)) + "\n"


def wrapped(part: str) -> str:
    """A part of a page, with its paragraph in lines; tables stay."""
    if part.startswith(("|", "#", "- ")):
        return part
    return textwrap.fill(part, 96, break_long_words=False, break_on_hyphens=False)
