"""Tables of what the suites found, and the document made of them."""

from __future__ import annotations

import collections
import re

from suite.counts import wrapped

DTYPES = (
    "float32",
    "float64",
    "int64",
    "int32",
    "bool",
    "bfloat16",
    "float16",
    "complex64",
    "complex128",
)
FORMS = {
    "op": ("forward", "grad", "jvp", "method", "inplace", "out", "error"),
    "derivative": (
        "reverse",
        "second",
        "forward",
        "still",
        "forward_reverse",
        "reverse_forward",
        "forward_forward",
        "hessian",
    ),
    "module": ("init", "repr", "train", "eval", "state", "grad", "error"),
    "optim": ("init", "repr", "step", "state", "groups", "resume", "schedule", "error"),
    "interchange": tuple(
        f"{way}_{form}"
        for form in ("script", "trace", "freeze", "export", "state", "legacy")
        for way in ("read", "write", "again")
        if way != "again" or form in ("script", "trace", "freeze")
    ),
}

Outcome = tuple[str, str, str, str]

_TITLES = {
    "op": "Operators (`op_db`)",
    "derivative": "Derivatives of operators",
    "module": "Modules (`module_db`)",
    "optim": "Optimizers (`optim_db`)",
    "interchange": "Files exchanged with PyTorch",
}
_MEANING = {
    "op": "Forms: the function, its gradients (first and second order) and its "
    "tangents in forward mode (`jvp`), both in 64 bits only, the method, the "
    "in-place method, `out=`, and wrong arguments.",
    "derivative": "Forms: gradients, gradients of gradients, tangents, those "
    "of zeros (`still`), and the second derivatives that modes make together, "
    "as products and as a whole Hessian; each where the database has it, at "
    "zeros, at two zeros, at equal elements, at singular matrices and at an "
    "infinity, float64. An outcome is an entry, a form and a point. Where "
    "PyTorch has other numbers, central differences and the other modes judge.",
    "module": "Forms: state behind a seed, text, result in training and in "
    "evaluation, state behind a call, gradients of inputs and parameters "
    "(first and second order, float64), and wrong arguments.",
    "optim": "Forms: options before the first step, text, parameters behind "
    "each step, state behind the last, groups with options of their own, going "
    "on from a saved state, learning-rate schedules, and wrong arguments.",
    "interchange": "Forms: files that hotaru reads (`read`), that PyTorch "
    "reads (`write`), and those of PyTorch that hotaru writes again (`again`): "
    "scripted, traced and frozen archives, exported programs, states in either "
    "format (`legacy`: no ZIP archive); each is called twice "
    "and says the results, the arguments and the state behind it that "
    "PyTorch's own file says. What PyTorch cannot put in a file, or take out "
    "of its own, does not count.",
}

# Families of operators, by how their names begin; the rest is "the rest".
_RANDOM = (
    "bernoulli",
    "cauchy",
    "exponential",
    "geometric",
    "log_normal",
    "multinomial",
    "normal",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "rand_like",
    "uniform",
    "randperm",
)
_FAMILIES = (
    "linalg",
    "fft",
    "special",
    "nn.functional",
    "masked",
    "signal",
    "random",
    "the rest",
)

# Reasons of what is left, by what its text looks like; the first that fits.
_REASONS = (
    (r"^(second: )?missing |has no attribute", "a name that is not there"),
    (r"^needs ", "a kind of value that is not there (sparse, complex32, ...)"),
    (r"^(crash|hang|cannot be read)", "a crash"),
    (r"^accepts what", "accepts what PyTorch refuses"),
    (r"^says |^\w+, not \w+: ", "refuses with another error or text"),
    (r"NotImplementedError|not implemented", "not implemented for that dtype"),
    (r"^second", "second derivatives"),
    (r"gradient|need grad", "what needs a gradient"),
    (r"dtype .*, not ", "a result of another dtype"),
    (r"shape .*, not ", "a result of another shape"),
    (r"value .*, not ", "another value"),
    (r"^\w*Error: ", "refuses what PyTorch accepts"),
    (r"", "other"),
)


def form_of(kind: str) -> str:
    return "error" if kind.startswith("error") else kind.split("/")[0]


def table(suite: str, found: list[Outcome]) -> str:
    """Right of all, by dtype and form."""
    rows = {d: [x for x in found if x[1] == d] for d in DTYPES}
    return counted("", FORMS[suite], {d: x for d, x in rows.items() if x})


def counted(title: str, forms, rows: dict[str, list[Outcome]]) -> str:
    """A table of right of all: a line for each row, a column for each form."""
    lines = [
        f"| {title} | " + " | ".join(forms) + " |",
        "| --- |" + " ---: |" * len(forms),
    ]
    for name, outcomes in rows.items():
        counts = {form: [0, 0] for form in forms}
        for _, _, kind, text in outcomes:
            counts[form_of(kind)][0] += text == "ok"
            counts[form_of(kind)][1] += 1
        cells = [
            "{} of {}".format(*count) if count[1] else "–" for count in counts.values()
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def family(entry: str) -> str:
    """The family of an operator."""
    head = entry.split(".")[0]
    if entry.startswith("nn.functional."):
        return "nn.functional"
    if head in _FAMILIES:
        return head
    return "random" if head in _RANDOM else "the rest"


def reasons(found: list[Outcome], most: int) -> str:
    """The most frequent texts, with how many entries each fails."""
    entries: dict[str, set[str]] = collections.defaultdict(set)
    for entry, _, _, text in found:
        if text != "ok":
            entries[text].add(entry)
    rows = sorted(entries.items(), key=lambda row: -len(row[1]))[:most]
    return "\n".join(
        f"{len(names):4} {text[:110]}   {', '.join(sorted(names)[:3])}"
        for text, names in rows
    )


def where(names: list[str], split: bool) -> str:
    """How many entries these are and, with `split`, of which families."""
    if not split:
        return str(len(names))
    families = collections.Counter(map(family, names)).most_common(4)
    return f"{len(names)}: " + ", ".join(f"{n} {f}" for f, n in families)


def left(found: list[Outcome], split: bool) -> str:
    """Table of what is not right, by reason."""
    groups: dict = collections.defaultdict(lambda: [0, {}])
    for entry, _, kind, text in found:
        if text == "ok":
            continue
        reason = next(r for pattern, r in _REASONS if re.search(pattern, text))
        groups[reason][0] += 1
        shown = text.replace("|", "\\|").replace("`", "'")[:70]
        groups[reason][1].setdefault(entry, f"{form_of(kind)}: {shown}")
    lines = ["| reason | outcomes | entries | for example |"]
    lines.append("| --- | ---: | --- | --- |")
    for reason, (count, entries) in sorted(groups.items(), key=lambda row: -row[1][0]):
        names = sorted(entries)
        # Three, from all over the alphabet.
        chosen = dict.fromkeys(names[i * (len(names) - 1) // 2] for i in range(3))
        shown = "; ".join(f"`{n}` ({entries[n]})" for n in chosen)
        lines.append(f"| {reason} | {count} | {where(names, split)} | {shown} |")
    return "\n".join(lines)


def summary(found: dict[str, list[Outcome]]) -> str:
    lines = ["| | outcomes right | entries right in all | entries |"]
    lines.append("| --- | ---: | ---: | ---: |")
    for suite, outcomes in found.items():
        right = sum(text == "ok" for *_, text in outcomes)
        entries = {entry for entry, *_ in outcomes}
        wrong = {entry for entry, _, _, text in outcomes if text != "ok"}
        share = 100 * right / max(len(outcomes), 1)
        lines.append(
            f"| {_TITLES[suite]} | {right} of {len(outcomes)} ({share:.1f} %) "
            f"| {len(entries - wrong)} | {len(entries)} |"
        )
    return "\n".join(lines)


def report(found: dict[str, list[Outcome]], version: str) -> str:
    """The document."""
    parts = [
        "# How much of PyTorch runs on hotaru",
        "Made by `./dev conformance --report docs/conformance.md`: PyTorch "
        f"{version} says for each entry of its own databases what it does on "
        "the CPU, hotaru does the same, and each form of an entry in a dtype "
        "is one outcome, right or not. Values agree as closely as PyTorch's "
        "`assert_close` asks, plus twice the error PyTorch itself makes. Its "
        "own test files: [conformance_tests.md](conformance_tests.md).",
        summary(found),
    ]
    for suite, outcomes in found.items():
        parts += [f"## {_TITLES[suite]}", _MEANING[suite], table(suite, outcomes)]
        if suite == "op":
            rows = {
                name: [x for x in outcomes if family(x[0]) == name]
                for name in _FAMILIES
            }
            parts.append(counted("family", FORMS[suite], rows))
    parts.append("## What is left")
    parts.append(
        "All that fails is listed in `tests/conformance/known/`; `./dev "
        "conformance --op ENTRY` shows what is wrong with one entry."
    )
    for suite, outcomes in found.items():
        if any(text != "ok" for *_, text in outcomes):
            parts += [f"### {_TITLES[suite]}", left(outcomes, suite == "op")]
    return "\n\n".join(map(wrapped, parts)) + "\n"
