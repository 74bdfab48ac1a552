"""Does everything a program can do to a module between two calls.

    python tests/attack/module_attack.py [-k TEXT] [--list]
    python tests/attack/module_attack.py --random --seconds 60 [--seed N]

A network is called as it is, as a graphed callable and compiled; between two
calls, or between forward and backward, an action of module_actions.py changes
it. Results, gradients, buffers and errors have to be those of the plain
network. Every trial runs in a child process: a crash is a finding, too.
"""

from __future__ import annotations

import argparse
import copy
import functools
import gc
import itertools
import json
import os
import random
import select
import signal
import sys
import time
import types
import warnings

import module_net
from hotaru.nn import functional as F
from module_actions import ACTIONS, CALLS
from module_net import Draw, Holder

import hotaru as torch
from hotaru import nn

WAYS = ("graphed", "compiled")
SUBJECTS = ("module", "closure", "object", "partial")
_LIMIT = 60  # seconds for a trial


class Doubled(nn.Linear):
    """Subclass that an action turns a linear layer into."""

    def forward(self, x):
        return super().forward(x) * 2


class Lookalike:
    """A module in place of hotaru, with another tanh."""

    def __getattr__(self, name: str):
        return torch.sigmoid if name == "tanh" else getattr(torch, name)


def strided(tensor):
    """The values with strides of 2."""
    return torch.stack([tensor, tensor], -1)[..., 0]


def replaced(function):
    """The function with its result doubled."""

    @functools.wraps(function)
    def run(*args, **kwargs):
        return function(*args, **kwargs) * 2

    return run


class Run:
    """One network, called in one way, with actions between."""

    def __init__(self, way: str, trial: dict) -> None:
        self.grad = trial["grad"]
        self.draw = Draw()
        self.net, made = module_net.build(self.draw, trial["rich"])
        self.undo: list = []
        self.outcomes: list = []
        self.scope = {
            **made,
            "net": self.net,
            "torch": torch,
            "nn": nn,
            "F": F,
            "copy": copy,
            "gc": gc,
            "types": types,
            "draw": self.draw,
            "Holder": Holder,
            "Doubled": Doubled,
            "Lookalike": Lookalike,
            "strided": strided,
            "replaced": replaced,
            "later": self.later,
            "patch": self.patch,
            "module_net": module_net,
            "x": self.input,
        }
        self.inputs: list = []
        self.call = _wrapped(way, _subject(trial["subject"], self.net))

    def later(self, undo) -> None:
        """Registers what puts the process back as it was."""
        self.undo.append(undo)

    def patch(self, owner, name: str, value) -> None:
        """Binds a name of the library anew until the end."""
        self.later(functools.partial(setattr, owner, name, vars(owner)[name]))
        setattr(owner, name, value)

    def input(self, *shape):
        """An argument; a leaf where gradients are compared."""
        tensor = self.draw(*shape)
        if self.grad:
            tensor.requires_grad_()
            self.inputs.append(tensor)
        return tensor

    def act(self, action: str) -> None:
        try:
            exec(action, self.scope)
        except Exception as error:
            self.outcomes.append(["action", type(error).__name__, str(error)])

    def step(self, expression: str, between: str | None = None) -> None:
        """One call, its backward, and what can be seen after it."""
        try:
            outcome = ["ok", *self._results(expression, between)]
        except Exception as error:
            outcome = ["error", type(error).__name__, str(error)]
            # How far a backward comes before it fails is nobody's promise.
            for parameter in _parameters(self.net):
                parameter.grad = None
        self.outcomes.append(outcome)

    def _results(self, expression: str, between: str | None) -> list:
        self.inputs.clear()
        args = list(eval(expression, self.scope))
        kwargs = args.pop() if args and isinstance(args[-1], dict) else {}
        with torch.set_grad_enabled(self.grad and torch.is_grad_enabled()):
            result = self.call(*args, **kwargs)
            # The next call may overwrite it.
            found = [_plain(result)]
            if self.grad and result.requires_grad:
                weights = 1 + torch.arange(result.numel()) % 3
                loss = (result * weights.reshape(result.shape)).sum()
                if between is not None:
                    self.act(between)
                loss.backward()
                found.append([_plain(t.grad) for t in self.inputs])
                found.append([_plain(p.grad) for p in _parameters(self.net)])
        buffers = [_plain(buffer) for buffer in self.net.buffers()]
        return [*found, buffers]

    def end(self) -> list:
        for undo in reversed(self.undo):
            undo()
        return self.outcomes


def _subject(kind: str, net):
    """Returns the callable: the network, or code that reaches it."""
    if kind == "module":
        return net
    known = {"net": net}

    def through_a_cell(*args, **kwargs):
        return known["net"](*args, **kwargs)

    if kind == "closure":
        return through_a_cell
    if kind == "partial":
        return functools.partial(lambda net, *a, **k: net(*a, **k), net)

    class Service:
        def __init__(self) -> None:
            self.parts = Holder(net=net)

        def answer(self, *args, **kwargs):
            return self.parts.net(*args, **kwargs)

    return Service().answer


def _wrapped(way: str, function):
    if way == "graphed":
        return torch.graphs.make_graphed_callables(function, allow_unused_input=True)
    return torch.compile(function) if way == "compiled" else function


def _parameters(net) -> list:
    """All that the network uses, known to it or not."""
    others = [net.__dict__["holder"].module, *net.hidden.values(), *net.layers]
    hidden = [
        parameter
        for module in others
        if isinstance(module, nn.Module)
        for parameter in module.parameters()
    ]
    return [*net.parameters(), *hidden]


def _plain(value):
    if not isinstance(value, torch.Tensor):
        return value
    dtype = str(value.dtype).split(".")[-1]
    return [dtype, list(value.shape), value.detach().double().tolist()]


# -- trials --------------------------------------------------------------------


def outcomes(way: str, trial: dict) -> list:
    """Returns a trial's results, called in one way."""
    torch.manual_seed(0)
    run = Run(way, trial)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for what, text in trial["steps"]:
                if what == "call":
                    run.step(text)
                elif what == "act":
                    run.act(text)
                else:
                    run.step(CALLS[0], between=text)
        finally:
            found = run.end()
    return found


# Errors that say what a graph cannot follow, and what to do.
LOUD = (
    "operation not permitted when stream is capturing",
    "since the forward; call the callable again",
)


def verdict(got: list, want: list) -> str | None:
    """How outcomes differ from those of the plain network, or None."""
    for i, (a, b) in enumerate(itertools.zip_longest(got, want)):
        if a is None or b is None:
            return f"wrong: outcome {i}: {_short(a)} for {_short(b)}"
        if a[0] != b[0]:
            if a[0] == "error" and any(text in a[2] for text in LOUD):
                return None
            if a[0] == "error" or a[0] == "action":
                return f"raises: outcome {i}: {a[1]}: {_line(a[2])}"
            return f"wrong: outcome {i}: no {b[1]}: {_line(b[2])}"
        if a[0] == "ok":
            where = _difference(a[1:], b[1:])
            if where:
                return f"wrong: outcome {i}{where}"
        elif a[1] != b[1]:
            return f"other error: outcome {i}: {a[1]} for {b[1]}"
    return None


def _difference(a, b, path: str = "") -> str | None:
    if isinstance(a, float) or isinstance(b, float):
        if not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
            return f"{path}: {a} for {b}"
        # Graphs may add and multiply in another order.
        close = abs(a - b) <= 1e-4 + 1e-3 * abs(b)
        return None if close or a == b or a != a != b != b else (f"{path}: {a} for {b}")
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (left, right) in enumerate(zip(a, b)):
            found = _difference(left, right, f"{path}/{i}")
            if found:
                return found
        return None
    return None if a == b else f"{path}: {_short(a)} for {_short(b)}"


def _short(value) -> str:
    text = json.dumps(value)
    return text if len(text) < 70 else text[:67] + "..."


def _line(text: str) -> str:
    return text.splitlines()[0][:120] if text else ""


def in_child(function, *args):
    """The result of a function that runs in a process of its own.

    A text instead of a value says how the process died.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        code = 1
        try:
            with open(writer, "w") as out:
                json.dump(function(*args), out)
            code = 0
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        finally:
            os._exit(code)
    os.close(writer)
    text = _all_of(reader, time.monotonic() + _LIMIT)
    if text is None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if text is None:
        return "hangs"
    if os.WIFSIGNALED(status):
        return f"dies of signal {os.WTERMSIG(status)}"
    if os.waitstatus_to_exitcode(status) != 0:
        return f"ends with {os.waitstatus_to_exitcode(status)}"
    return json.loads(text)


def _all_of(reader: int, deadline: float) -> str | None:
    parts = []
    with open(reader, "rb", buffering=0) as pipe:
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([pipe], [], [], left)[0]:
                return None
            part = pipe.read(1 << 16)
            if not part:
                return b"".join(parts).decode()
            parts.append(part)


def attack(trial: dict, ways=WAYS) -> dict[str, str]:
    """Says what is wrong with each way; the plain network under "eager"."""

    def all_of_them():
        want = outcomes("eager", trial)
        note = next((o for o in want if o[0] == "action"), None)
        return [note, {way: verdict(outcomes(way, trial), want) for way in ways}]

    found = in_child(all_of_them)
    if not isinstance(found, str):
        note, verdicts = found
        wrong = {way: text for way, text in verdicts.items() if text}
        if note:
            wrong["note"] = f"{note[1]}: {_line(note[2])}"
        return wrong
    # Which of them was it?
    wrong = {}
    for way in ("eager", *ways):
        alone = in_child(outcomes, way, trial)
        if isinstance(alone, str):
            wrong[way] = alone
    return wrong or {"all": found}


def single(text: str, where: str, subject: str, rich: bool) -> dict:
    """The trial of one action, or one kind of call, at one place."""
    start = [["call", CALLS[0]], ["call", CALLS[0]]]
    if where == "argument":
        steps = [*start, ["call", text], ["call", text], ["call", CALLS[0]]]
    elif where == "between":
        steps = [*start, ["between", text], ["call", CALLS[0]]]
    else:
        steps = [*start, ["act", text], *start]
    grad = where != "no_grad"
    return {"subject": subject, "rich": rich, "grad": grad, "steps": steps}


def singles(subject: str = "module", text: str = ""):
    """Pairs of a name and a trial: every action at every place."""
    for action in ACTIONS:
        if text in action:
            for where in ("no_grad", "grad", "between"):
                trial = single(action, where, subject, False)
                yield f"[{where}] {action}", trial
            yield f"[rich] {action}", single(action, "grad", subject, True)
    for call in CALLS:
        if text in call:
            trial = single(call, "argument", subject, False)
            yield f"[argument] {call}", trial
            trial = {**trial, "grad": False}
            yield f"[argument, no_grad] {call}", trial


def random_trial(source: random.Random) -> dict:
    """A few actions and kinds of calls, one after the other."""
    steps = [["call", CALLS[0]]] * 2
    for _ in range(source.randint(1, 6)):
        what = source.choices(("act", "call", "between"), (6, 2, 1))[0]
        steps.append([what, source.choice(CALLS if what == "call" else ACTIONS)])
        steps += [["call", CALLS[0]]] * source.randint(0, 2)
    return {
        "subject": source.choices(SUBJECTS, (5, 1, 1, 1))[0],
        "rich": source.random() < 0.3,
        "grad": source.random() < 0.6,
        "steps": [*steps, ["call", CALLS[0]]],
    }


def shrunk(trial: dict, ways) -> dict:
    """A trial of fewer steps that goes wrong in the same way."""
    kinds = _kinds(attack(trial, ways))
    at = 0
    while at < len(trial["steps"]):
        steps = trial["steps"][:at] + trial["steps"][at + 1 :]
        less = {**trial, "steps": steps}
        if _kinds(attack(less, ways)) == kinds:
            trial = less
        else:
            at += 1
    return trial


def _kinds(wrong: dict) -> set:
    return {(way, text.split(":")[0]) for way, text in wrong.items() if way != "note"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("-k", default="", help="only actions with this text")
    add("--subject", default="module", choices=SUBJECTS)
    add("--way", choices=WAYS)
    add("--list", action="store_true", help="print the actions only")
    add("--notes", action="store_true", help="also actions that fail alone")
    add("--random", action="store_true")
    add("--seconds", type=float, default=60)
    add("--seed", type=int, default=0)
    options = parser.parse_args()
    ways = (options.way,) if options.way else WAYS
    if options.list:
        print(*ACTIONS, *CALLS, sep="\n")
        return 0
    if options.random:
        return _attack_at_random(options.seed, options.seconds, ways)
    failed = count = 0
    for name, trial in singles(options.subject, options.k):
        wrong = attack(trial, ways)
        note = wrong.pop("note", None)
        if note and options.notes:
            print(f"{name}\n    note: {note}", flush=True)
        if wrong:
            failed += 1
            print(name, flush=True)
            for way, text in wrong.items():
                print(f"    {way}: {text}", flush=True)
        count += 1
    print(f"{failed} of {count} trials went wrong")
    return 1 if failed else 0


def _attack_at_random(seed: int, seconds: float, ways) -> int:
    deadline = time.monotonic() + seconds
    failed = count = 0
    while time.monotonic() < deadline:
        trial = random_trial(random.Random(seed + count))
        wrong = attack(trial, ways)
        wrong.pop("note", None)
        if wrong:
            failed += 1
            print(f"seed {seed + count}: {wrong}")
            less = shrunk(trial, ways)
            print("   ", {k: v for k, v in less.items() if k != "steps"})
            for step in less["steps"]:
                print(f"    {step[0]}: {step[1]}", flush=True)
        count += 1
    print(f"{failed} of {count} random trials went wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
