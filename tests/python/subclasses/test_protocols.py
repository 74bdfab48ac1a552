"""Classes and modes are sent what PyTorch 2.13 sends them.

golden/protocol_calls.txt has forms of calls and what PyTorch sends for each
(record_protocols.py); golden/protocol_differs.txt those that hotaru sends
something else for, by reasons. The list is strict. After a change

    python tests/python/subclasses/test_protocols.py

writes it anew; a new difference gets the heading "unexplained", which the test
does not take.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from pathlib import Path

import pytest
from protocol_calls import Coder, Watchers, _kinds, find, names_of, over, sent

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
CALLS = GOLDEN / "protocol_calls.txt"
DIFFERS = GOLDEN / "protocol_differs.txt"
COLUMNS = ("function", "subclass", "dispatch", "wrapper", "graph")

# Reasons for differences: a pattern of columns and names, and why. The first
# that fits counts.
REASONS = (
    (
        r"function: (operator|builtins|torch\.Tensor\.__)",
        "the name that Python's slot has here",
    ),
    (r"function: torch\.Tensor\.(ndimension|nelement)", "PyTorch tells dim and numel"),
    (
        r"(function|dispatch): torch\.(linspace|logspace|can_cast|result_type|"
        r"as_tensor|tensor|.*_window)",
        "made in Python, of other operators",
    ),
    (
        r"function: torch\.(mm|segment_reduce|histogramdd)|function: torch\."
        r"Tensor\.set_",
        "PyTorch's own oddity: spmm, a name that is not found, "
        "a question before the call, no call at all",
    ),
    (r"subclass: torch\.Tensor\.to_sparse", "sparse tensors are a class"),
    (r"subclass: ", "results are of another class"),
    (
        r"function: torch\.(nn\.functional|functional|Tensor)\.|function: torch\."
        r"(norm|split|stft|unique|lu|tensordot|cdist)",
        "options that were not given are not told",
    ),
    (
        r"dispatch: .*(istft|quantile|gradient|histogramdd|matrix_power|"
        r"matrix_rank|matrix_norm|unravel_index|linear_cross_entropy)",
        "whole here, or made of other parts",
    ),
    (r"dispatch: .*\bout\b", "parts write to results of their own, which are copied"),
    (
        r"(dispatch|wrapper): .*(numpy|__array__|is_pinned|is_same_size|is_set_to|"
        r"set_|data_ptr|is_shared|__repr__|__format__|repr|type\b)",
        "about memory or text, which is no operator here",
    ),
    (r"dispatch: .*to_sparse", "sparse tensors are a class"),
    (
        r"dispatch: .*(view|floordiv|getitem|__rsub__|embedding_bag|max_pool2d|"
        r"rrelu|lu|round)",
        "kinds of arguments: a default that PyTorch keeps, a "
        "dimension that is told otherwise, a copy in place of the form in place",
    ),
    (r"wrapper: .*quantile out", "sizes of what was squeezed in place"),
    (
        r"graph: torch\.Tensor\.(__iter__|untyped_storage)",
        "what no graph can give: another error",
    ),
    (r"wrapper: .*(tensor_split|narrow)", "numbers are asked of the wrapper"),
)


def _rows():
    for line in CALLS.read_text().splitlines():
        form, function, sub, dispatch, wrapper, graph = line.split("\t")
        want = [
            function,
            function if sub == "=" else sub,
            dispatch,
            dispatch if wrapper == "=" else wrapper,
            names_of(dispatch) if graph == "=" else graph,
        ]
        yield form, want


def _differences(lib) -> dict[str, tuple[str, str]]:
    """By "column: form", what is sent and what PyTorch sends. A class is named
    only where a mode's form does not differ already.
    """
    watchers = Watchers(lib)
    found = {}
    for form, want in _rows():
        got = sent(watchers, json.loads(form))
        for i, column in enumerate(COLUMNS):
            told = i in _WITH and got[_WITH[i]] != want[_WITH[i]]
            if got[i] != want[i] and not told:
                found[f"{column}: {form}"] = got[i], want[i]
    return found


# Columns that say the same as another, where both are told the same.
_WITH = {1: 0, 3: 2, 4: 2}


def _name(entry: str) -> str:
    """An entry as patterns see it: the column, the name, and "out"."""
    column, _, form = entry.partition(": ")
    name, _, kwargs = json.loads(form)
    return f"{column}: {name}" + (" out" if "out" in kwargs else "")


def _reason(entry: str) -> str:
    for pattern, reason in REASONS:
        if re.match(pattern, _name(entry)):
            return reason
    return "unexplained"


def _listed() -> set[str]:
    lines = DIFFERS.read_text().splitlines()
    assert "# unexplained" not in lines
    return {line for line in lines if line and not line.startswith("#")}


@pytest.fixture(scope="module")
def differences(hotaru):
    """All differences, found once."""
    return _differences(hotaru)


@pytest.mark.parametrize("column", COLUMNS)
def test_what_is_sent_is_pytorchs(differences, column):
    listed = {x for x in _listed() if x.startswith(f"{column}: ")}
    found = {k: v for k, v in differences.items() if k.startswith(f"{column}: ")}
    new = [
        f"{k}\n  got  {found[k][0]}\n  want {found[k][1]}"
        for k in sorted(found.keys() - listed)
    ]
    assert not new, "\n".join(new[:20])
    assert not listed - found.keys(), "no longer differ: take them off the list"


def test_every_difference_has_a_reason():
    for entry in _listed():
        assert _reason(entry) != "unexplained"


def test_options_are_named_as_pytorchs_functions_name_them(hotaru):
    """`_sent_arguments.sent` puts a call's arguments in that form."""
    from hotaru._sent_arguments import sent as arranged

    code = Coder(hotaru)
    count = 0
    for form, want in _rows():
        name, args, kwargs = json.loads(form)
        if not name.startswith(("torch.nn.functional.", "torch.Tensor.")):
            continue
        function = find(hotaru, name)
        if type(function) is not hotaru._C.Function or " " in want[0]:
            continue
        given = (code.decode(args), {k: code.decode(v) for k, v in kwargs.items()})
        kinds = _kinds(hotaru, *arranged(function, function.__name__, *given))
        if want[0]:
            assert want[0].partition("(")[2] == f"{kinds})", form
            count += 1
    assert count > 200


# Operators that draw numbers, or about which nothing is to compare.
_DRAWS = re.compile(
    r"rand|drop|bernoulli|normal|uniform|exponential|cauchy|geometric|poisson|"
    r"multinomial|rrelu|gumbel|fractional|empty|lowrank|resize|set |get |set_|"
    r"setitem|data|is_shared|requires_grad|builtins|operator\.i|to_sparse|narrow|"
    r"tensor_split|tolist|numpy|__array__|storage|__repr__|__format__"
)


def _leaves(lib, value) -> list:
    if isinstance(value, lib.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [x for item in value for x in _leaves(lib, item)]
    return []


def _gradients(lib, form, convert):
    """Results, and gradients of the sum of their squares."""
    name, args, kwargs = form
    code, inputs = Coder(lib), []

    def leaf(x):
        x = convert(x)
        if x.is_floating_point() or x.is_complex():
            inputs.append(x.requires_grad_())
        return x

    values = [code.decode(args), {k: code.decode(v) for k, v in kwargs.items()}]
    args, kwargs = over(values, leaf, lib)
    found = _leaves(lib, find(lib, name)(*args, **kwargs))
    total = 0
    for y in found:
        if y.requires_grad:
            y = y.real if y.is_complex() else y
            total = total + (y * y).sum()
    if not isinstance(total, lib.Tensor):
        return found, []
    return found, lib.autograd.grad(total, inputs, allow_unused=True)


def test_parts_give_what_the_operator_gives(hotaru):
    """One form of each function: values and gradients of wrappers."""
    lib = hotaru
    watchers = Watchers(lib)
    known, count = set(), 0
    for form, _ in _rows():
        form = json.loads(form)
        name = form[0]
        if name in known or "out" in form[2] or _DRAWS.search(name):
            continue
        if name.endswith("_") and not name.endswith("__"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                want = _gradients(lib, form, lambda x: x)
            except (RuntimeError, NotImplementedError):
                continue  # no derivative
            known.add(name)
            got = _gradients(lib, form, watchers.wrapper)
        for a, b in zip(got[0] + list(got[1]), want[0] + list(want[1])):
            a = getattr(a, "held", a)
            if a is None and b is None:
                continue
            if a is None or b is None:
                assert not (a if b is None else b).any(), form
            elif b.is_floating_point() or b.is_complex():
                lib.testing.assert_close(
                    a, b, rtol=1e-3, atol=1e-4, equal_nan=True, msg=str(form)
                )
            else:
                assert lib.equal(a, b), form
        count += 1
    assert count > 600


def _write(lib) -> None:
    by_reason: dict[str, list[str]] = {}
    for entry in _differences(lib):
        by_reason.setdefault(_reason(entry), []).append(entry)
    lines = []
    for reason, entries in sorted(by_reason.items()):
        lines += [f"# {reason}", *sorted(entries), ""]
    DIFFERS.write_text("\n".join(lines).rstrip() + "\n")
    print({reason: len(entries) for reason, entries in by_reason.items()})


if __name__ == "__main__":
    import hotaru

    sys.exit(_write(hotaru))
