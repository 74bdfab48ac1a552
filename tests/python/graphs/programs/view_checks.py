"""Checks of random programs: a call beside eager code's, and what differs.

    python tests/python/graphs/programs/view_checks.py SEED

shows a program of view_programs.py, smaller if it still differs, and what
differs.
"""

from __future__ import annotations

import contextlib
import functools
import re
import sys
import warnings

from view_programs import (
    Program,
    _text_of,
    called,
    described,
    gradients,
    place_of,
    sharing,
    tensors_in,
)

import hotaru as torch


def close(a, b) -> bool:
    """Equal, but for the rounding of numbers."""
    if isinstance(a, float) and isinstance(b, float):
        return (
            a == b
            or abs(a - b) <= 1e-4 * max(1.0, abs(a), abs(b))
            or (a != a and b != b)
        )
    if isinstance(a, complex) and isinstance(b, complex):
        return close((a.real, a.imag), (b.real, b.imag))
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(close, a, b))
    return a == b


def differences(wanted: dict, found: dict, without=()) -> list[str]:
    keys = {*wanted, *found} - set(without)
    return [
        f"{key}\n  eager {_unlike(wanted.get(key), found.get(key))}"
        f"\n  found {_unlike(found.get(key), wanted.get(key))}"
        for key in sorted(keys)
        if not close(wanted.get(key), found.get(key))
    ]


def _unlike(a, b) -> str:
    """The parts of a that b has otherwise."""
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return str([(i, x) for i, (x, y) in enumerate(zip(a, b)) if not close(x, y)])
    return str(a)


def check_compiled(program: Program) -> list[str]:
    """Three calls of a kind: one that captures, two that replay."""
    eager, eager_state = program.function()
    function, state = program.function()
    compiled = torch.compile(function, options={"bitwise": True})
    found = []
    for number in (1, 2, 3):
        wanted = called(program, eager, eager_state, number)
        got = called(program, compiled, state, number)
        found += [f"call {number}: {d}" for d in differences(wanted, got)]
    return found


_MODES = (
    contextlib.nullcontext,
    contextlib.nullcontext,
    torch.no_grad,
    torch.inference_mode,
    contextlib.nullcontext,
    contextlib.nullcontext,
    functools.partial(torch.autocast, "cpu"),
)


def _within(mode, run):
    def inner(*arguments):
        with mode():
            return run(*arguments)

    return inner


def check_varied(program: Program) -> list[str]:
    """Calls of several kinds and in several modes, which take turns."""
    eager, eager_state = program.function()
    function, state = program.function()
    compiled = torch.compile(function, options={"bitwise": True})
    found = []
    for number, kind in enumerate((0, 1, 0, 2, 1, 3, 0)):
        varied, mode = program.varied(kind), _MODES[number]
        wanted = called(varied, _within(mode, eager), eager_state, number)
        got = called(varied, _within(mode, compiled), state, number)
        found += [
            f"call {number}, {varied.layouts} {varied.grads}: {d}"
            for d in differences(wanted, got)
        ]
    return found


def check_fed(program: Program) -> list[str]:
    """Results are kept, and are arguments of the next calls; gradients go back
    through all of them at the end.
    """
    eager, eager_state = program.function()
    function, state = program.function()
    compiled = torch.compile(function, options={"bitwise": True})
    wanted = _fed(program, eager, eager_state)
    got = _fed(program, compiled, state)
    # A graph's backward has values of its own: what was written since is no
    # error.
    spoiled = isinstance(wanted["gradients"], str) or _spoils(program)
    return differences(wanted, got, ["gradients"] if spoiled else [])


_UNCOUNTED = re.compile(r"\.data\b(?! =)")


def _spoils(program: Program) -> bool:
    """Tells whether writes through `data`, which no version counts, reach what
    an earlier call's backward reads: eager code has wrong gradients then.
    """
    lines = [_UNCOUNTED.sub(".detach()", line) for line in program.lines]
    if lines == program.lines:
        return False
    counted = type(program)(program.seed, lines)
    seen = _fed(counted, *counted.function())
    # A write that is refused where it is counted tells nothing.
    refused = any(key.startswith("error") for key in seen)
    return refused or isinstance(seen["gradients"], str)


def _fed(program: Program, run, state) -> dict:
    seen, kept, leaves, results = {}, [], [], []
    for number in range(1, 5):
        arguments = program.arguments(number)
        leaves += program.leaves
        for i, x in enumerate(arguments):
            like = [r for r in results if _alike(x, r)]
            if like:
                arguments[i] = like[number % len(like)]
        given = tensors_in(arguments)
        try:
            results = tensors_in(run(*arguments))
        except Exception as error:
            seen[f"error {number}"] = type(error).__name__, _text_of(error)
        everything = [*given, *results]
        # Results follow an argument's strides where these matter to elements.
        seen[f"tensors {number}"] = [described(t, False) for t in everything]
        seen[f"sharing {number}"] = sharing(everything)
        seen[f"state {number}"] = state.seen()
        results = _apart(results, state)
        kept += results
    seen["kept"] = [described(t, False) for t in kept]
    seen["gradients"] = gradients(kept, leaves)
    return seen


def _apart(results: list, state) -> list:
    """Results as arguments: of a new state a copy, as a graph's is one: what is
    written there reaches no other call.
    """
    states = {place_of(t)[0] for t in state.tensors() if t.numel()}
    copies = {id(t): _copied(t) for t in results if place_of(t)[0] in states}
    return [copies.get(id(t), t) for t in results]


def _copied(t):
    """A copy of the same strides, also of an expanded tensor."""
    copy = torch.empty_strided(t.shape, t.stride(), dtype=t.dtype)
    if any(s == 0 and n > 1 for s, n in zip(t.stride(), t.shape)):
        torch._C._bring_values(copy, t.detach())
        return copy
    return copy.copy_(t)


def _alike(x, result) -> bool:
    return (
        isinstance(x, torch.Tensor)
        and x.shape == result.shape
        and x.dtype == result.dtype
    )


def check_queued(program: Program) -> list[str]:
    """Run on a stream that queues, waited for at the end."""
    eager, eager_state = program.function()
    function, state = program.function()
    stream = torch.cpu.Stream()

    def run(*arguments):
        with torch.cpu.stream(stream):
            return function(*arguments)

    wanted = called(program, eager, eager_state, 1)
    try:
        got = called(program, run, state, 1, after=torch.cpu.synchronize)
    except IndexError as error:
        # Values that are no indices are found where they are used.
        if "error" in wanted and _text_of(error) == wanted["error"][1]:
            return []
        raise
    return differences(wanted, got)


_HOOKED = re.compile(r"hook|func\.grad")


def check_graphed(program: Program) -> list[str]:
    """Graphed calls, whose results the next one overwrites; what no graph can
    do is an error then. Views are copies where hooks make their history more
    than a view's.
    """
    if _HOOKED.search(program.text):
        return []
    eager, eager_state = program.function()
    function, state = program.function()
    graphed = torch.cpu.make_graphed_callables(
        function, bitwise=True, allow_unused_input=True
    )
    found = []
    for number in (1, 2, 3):
        wanted = called(program, eager, eager_state, number)
        got = called(program, graphed, state, number)
        if "error" in got:
            return found
        # Results that were made of numbers are copies, each for itself.
        apart = ["sharing"] if "torch.tensor(" in program.text else []
        d = differences(wanted, got, ["result versions", *apart])
        found += [f"call {number}: {text}" for text in d]
    return found


# Steps that hand-made graphs rebind, or that tell of tensors bound anew.
_BY_HAND = re.compile(
    r"state|pair|hook|box[.\[]|\.data =|set_\(|_version|resize|\.grad"
)


def check_replayed(program: Program) -> list[str]:
    """A graph by hand: its arguments have other values in each replay."""
    eager, eager_state = program.function()
    function, state = program.function()
    arguments = program.arguments(1)
    if program.leaves or _BY_HAND.search(program.text):
        return []
    given = tensors_in(arguments)
    shapes = [t.shape for t in given]
    graph = torch.cpu.Graph(bitwise=True)
    try:
        with torch.cpu.graph(graph):
            results = tensors_in(function(*arguments))
    except Exception:
        return []  # what cannot be captured, or the program's own
    if [t.shape for t in given] != shapes:
        return []
    found = []
    for number in (2, 3):
        fresh = program.arguments(number)
        with torch.no_grad():
            for t, value in zip(given, tensors_in(fresh)):
                t.untyped_storage().copy_(value.untyped_storage())
            state.h.zero_()
            eager_state.h = torch.zeros(3, 4)
        wanted = tensors_in(eager(*fresh))
        graph.replay()
        both = [*zip(given, tensors_in(fresh)), *zip(results, wanted)]
        found += [
            f"replay {number}, tensor {i}: eager {described(b)}, found {described(a)}"
            for i, (a, b) in enumerate(both)
            if not close(described(a), described(b))
        ]
    return found


CHECKS = {
    "compiled": check_compiled,
    "varied": check_varied,
    "fed": check_fed,
    "graphed": check_graphed,
    "replayed": check_replayed,
    "queued": check_queued,
}


def differing(program: Program, check) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return check(program)
        except Exception as error:
            return [f"{type(error).__name__}: {error}"]


def smaller(program: Program, check) -> Program:
    """With as few lines as still differ."""
    at = 0
    while at < len(program.lines) - 1:
        lines = program.lines[:at] + program.lines[at + 1 :]
        candidate = type(program)(program.seed, lines)
        try:
            compile(candidate.text, "program", "exec")
        except SyntaxError:
            at += 1
            continue
        if differing(candidate, check):
            program = candidate
        else:
            at += 1
    return program


def report(program: Program, name: str) -> str:
    program = smaller(program, CHECKS[name])
    arguments = ", ".join(
        f"{n}: {layout}{' requires grad' * g}{' made' * (g and m)}"
        for n, layout, g, m in zip(
            program.names, program.layouts, program.grads, program.made
        )
    )
    found = "\n".join(differing(program, CHECKS[name])[:4])
    return f"seed {program.seed}, {name}: {arguments}\n{program.text}\n{found}"


def main(first: int, last: int, names: list[str], kind=Program) -> int:
    count = 0
    for seed in range(first, last):
        program = kind(seed)
        for name in names:
            if differing(program, CHECKS[name]):
                count += 1
                if count <= 12:
                    print(report(program, name), "\n", flush=True)
    print(f"{last - first} programs, {count} differ")
    return count


def run(arguments: list[str], kind=Program) -> None:
    """The program of the command line."""
    begin = int(arguments[0])
    end = int(arguments[1]) if len(arguments) > 1 else begin + 1
    sys.exit(bool(main(begin, end, arguments[2:] or list(CHECKS), kind)))


if __name__ == "__main__":
    run(sys.argv[1:])
