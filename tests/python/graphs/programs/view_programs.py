"""Random programs of views and writes, and all that a caller can see of a call:
values, strides, sharing, versions, histories, gradients, its own tensors.
"""

from __future__ import annotations

import copy
import dataclasses
import random
import re
import warnings

import hotaru as torch

# How an argument lies in memory. Those that look at another's memory come
# behind it: `x` is the one before.
LAYOUTS = {
    "dense": lambda new, x: new(3, 4),
    "row": lambda new, x: new(4),
    "transposed": lambda new, x: new(4, 3).t(),
    "columns": lambda new, x: new(3, 7)[:, 2:6],
    "steps": lambda new, x: new(6, 4)[::2],
    "offset": lambda new, x: new(5, 4)[1:4],
    "expanded": lambda new, x: new(1, 4).expand(3, 4),
    "windows": lambda new, x: new(8).unfold(0, 4, 2),
    "one": lambda new, x: new(1, 4),
    "same": lambda new, x: x,
    "view of it": lambda new, x: x[1:],
    "it transposed": lambda new, x: x.t() if x.dim() == 2 else x.view(-1, 1),
    "it detached": lambda new, x: x.detach(),
    "empty": lambda new, x: new(0, 4),
}

# Lines of programs by kind; a, b and c are variables, n is a new one.
VIEWS = [
    "n = a.t() if a.dim() < 3 else a.transpose(0, 1)",
    "n = a[1:]",
    "n = a[0]",
    "n = a[..., 1:3]",
    "n = a[::2]",
    "n = a[..., 0]",
    "n = a.unsqueeze(0)",
    "n = a.reshape(-1)",
    "n = a.view(-1)",
    "n = a.squeeze()",
    "n = a[None].expand(2, *a.shape)",
    "n = a[:1].expand_as(a)",
    "n = a.detach()",
    "n = a.data",
    "n = a.unfold(0, 2, 1)",
    "n = a.diagonal()",
    "n = a.split(2)[0]",
    "n = a.chunk(2, -1)[-1]",
    "n = a.unbind()[0]",
    "n = a.view(torch.int32)",
    "n = a.narrow(-1, 0, 1)",
    "n = a.contiguous()",
    "n = a.view_as(a)",
    "n = a.flatten()",
    "n = a.as_strided((2,), (1,))",
    "n = a.movedim(0, -1)",
    "with torch.no_grad(): n = a[1:]",
]
PURE = [
    "n = a + b",
    "n = a * 2",
    "n = a.clone()",
    "n = a.sum(0)",
    "n = a * b + c",
    "n = torch.cat([a, b])",
    "n = a.mean()",
    "n = torch.stack([a, a])[..., 0]",
    "n = a.exp() if a.is_floating_point() else a",
    "n = a.sum()",
    "n = torch.zeros(3, 4)",
    "n = a.sigmoid()",
    "n = torch.where(a > b, a, b)",
    "n = a",
    "n = a.float() * 0.5",
    "n = torch.arange(4.0)",
    "n = a * 2 if a.is_contiguous() else a * 3",
    "n = a + a.stride(0)",
]
WRITES = [
    "a.add_(1)",
    "a.mul_(b)",
    "a[0] = 3",
    "a[1:] += 1",
    "a.copy_(b)",
    "a.zero_()",
    "a[..., 1] = b[..., 0]",
    "torch.add(a, b, out=c)",
    "a.data.add_(2)",
    "a.detach().mul_(2)",
    "a.fill_(2)",
    "a -= b",
    "with torch.no_grad(): a.mul_(0.5)",
    "a.data[0] = 5",
    "n = a.add_(b)",
    "torch.mul(a, 2, out=a)",
    "a.clamp_(-1, 1)",
    "a.t().add_(1)",
]
MORE = [
    "a.data = b",
    "a.t_()",
    "a.unsqueeze_(0)",
    "a.squeeze_()",
    "a.set_(b)",
    "a.resize_(2, 2).zero_()",
    "a.requires_grad_()",
    "a.detach_()",
    "a, b = b, a",
    "state.h = a * 1",
    "state.h = state.h + 1",
    "n = state.h",
    "state.h.add_(1)",
    "state.h = a.detach() * 1",
    "box.append(a)",
    "box[0] = a",
    "n = box[0]",
    "box[0].add_(1)",
    "n = a * a.storage_offset()",
    "n = a * a._version",
    "n = a * (2 if a is b else 3)",
    "n = a * (2 if a.is_leaf else 3)",
    "n = a * 2 if a.grad is None else a",
    "a.resize_as_(b).zero_()",
    "a.swapaxes_(0, -1)",
    "raise KeyError('end')",
]


class State(torch.nn.Module):
    """State that programs rebind."""

    def __init__(self) -> None:
        super().__init__()
        self.h = torch.zeros(3, 4)

    def seen(self) -> tuple:
        """Values that a caller sees of it."""
        return self.h.shape, self.h.tolist()

    def tensors(self) -> list:
        return [self.h]


class Program:
    """A function of random lines.

    Args:
        seed: of its choices.
        lines: these in place of random ones.
    """

    layouts_by_name = LAYOUTS
    most_lines = 8
    kinds = (VIEWS, PURE, WRITES, MORE), (5, 3, 5, 1)
    more_arguments = ("box",)

    def __init__(self, seed: int, lines: list[str] | None = None) -> None:
        self._draw = random.Random(seed)
        self.seed = seed
        self._choose_arguments()
        self.lines = self._choose_lines()
        if lines is not None:
            self.lines = lines
        self.text = "\n    ".join(
            [f"def f({', '.join(self.parameters())}):", *self.lines]
        )

    def parameters(self) -> list[str]:
        return [*self.names, *self.more_arguments]

    def _choose_arguments(self) -> None:
        draw = self._draw
        names = list(self.layouts_by_name)
        first = [n for n in names if n not in _OF_ANOTHER]
        self.layouts = [draw.choice(first)]
        while len(self.layouts) < draw.choice((1, 2, 2, 3)):
            self.layouts.append(draw.choice(names))
        # Which require grad, and of these which were made by an operator.
        self.grads = [draw.random() < 0.3 for _ in self.layouts]
        self.made = [draw.random() < 0.3 for _ in self.layouts]
        self.names = [f"x{i}" for i in range(len(self.layouts))]

    def arguments(self, number: int) -> list:
        """Arguments of a call, equal for equal numbers; the box comes last."""
        made, leaves = [], []

        def new(*shape):
            count = max(1, torch.Size(shape).numel())
            values = torch.arange(count).float() / 7 + number + len(made)
            return values[: torch.Size(shape).numel()].reshape(shape)

        for layout, grad, by_operator in zip(self.layouts, self.grads, self.made):
            build = self.layouts_by_name[layout]
            x = build(new, made[-1] if made else None)
            may = x.is_floating_point() or x.is_complex()
            has = x.requires_grad or layout in _OF_ANOTHER
            if grad and may and not has:
                x = x.detach().requires_grad_()
                leaves.append(x)
                x = x * 1 if by_operator and layout == "dense" else x
            made.append(x)
        self.leaves = leaves
        return [*made, *self.more(new)]

    def varied(self, number: int) -> Program:
        """The same lines for arguments that lie in memory another way, which
        share it, are leaves and require grad otherwise.
        """
        if not number:
            return self
        other = copy.copy(self)
        draw = random.Random(f"{self.seed} {number}")
        wanted = self.arguments(0)
        other.layouts = []
        other.grads = [draw.random() < 0.3 for _ in self.layouts]
        other.made = [draw.random() < 0.5 for _ in self.layouts]
        for x, own in zip(wanted, self.layouts):
            names = list(self.layouts_by_name)
            draw.shuffle(names)
            other.layouts.append(next((n for n in names if other._gives(n, x)), own))
        return other

    def _gives(self, layout: str, x) -> bool:
        """True if an argument of the layout would be like another one."""
        known = self.layouts
        if layout in _OF_ANOTHER and not known:
            return False
        self.layouts = [*known, layout]
        try:
            y = self.arguments(0)[len(known)]
        except (IndexError, RuntimeError):
            return False
        finally:
            self.layouts = known
        return y.shape == x.shape and y.dtype == x.dtype

    def more(self, new) -> list:
        """Arguments that are no tensors; the last one counts as a result."""
        return [[new(3, 4)]]

    def _choose_lines(self) -> list[str]:
        """Lines that run one after the other, but for the last at times."""
        draw = self._draw
        variables, lines = list(self.names), []
        scope = self.scope()
        scope.update(zip(self.parameters(), self.arguments(0)))
        for _ in range(draw.randint(1, self.most_lines)):
            kind = draw.choices(*self.kinds)[0]
            line = self._line(draw.choice(kind), variables)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    exec(line, scope)
            except KeyError:
                lines.append(line)
                break
            except Exception:
                if draw.random() < 0.02:
                    lines.append(line)
                    break
                continue
            lines.append(line)
            variables = [n for n in scope if n[0] in "xv" and n[1:].isdigit()]
        chosen = [draw.choice(variables) for _ in range(draw.randint(1, 3))]
        whole = ", ".join(chosen)
        forms = (whole, f"({whole},)", f"[{whole}]", f"dict(r={chosen[0]})")
        lines.append(f"return {draw.choice(forms)}")
        return lines

    def _line(self, template: str, variables: list[str]) -> str:
        """A template with variables in place of its letters."""
        draw = self._draw
        # Variables that were made last are more likely.
        weights = range(1, len(variables) + 1)
        chosen = draw.choices(variables, weights, k=3)
        new = f"v{len(variables)}"
        names = dict(zip("abcn", (*chosen, new)))
        return _NAMES.sub(lambda m: names[m.group()], template)

    def scope(self) -> dict:
        return {"torch": torch, "state": State()}

    def function(self):
        """It, and the state that it rebinds."""
        scope = self.scope()
        exec(self.text, scope)
        return scope["f"], scope["state"]


_OF_ANOTHER = {"same", "view of it", "it transposed", "it detached"}
_NAMES = re.compile(r"\b[abcn]\b")


def tensors_in(value) -> list:
    if isinstance(value, torch.Tensor):
        return [value]
    if dataclasses.is_dataclass(value):
        value = vars(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in tensors_in(item)]
    return []


def described(t, strides: bool = True) -> tuple:
    """Description of a tensor, with the strides of all dimensions or of those
    of several elements.
    """
    try:
        return _described(t, strides)
    except RuntimeError as error:  # a view whose base was written
        return ("RuntimeError", _text_of(error))


def _described(t, strides: bool) -> tuple:
    return (
        type(t).__name__,
        str(t.dtype),
        tuple(t.shape),
        tuple(
            s for s, n in zip(t.stride(), t.shape) if strides or (n > 1 and t.numel())
        ),
        t.requires_grad,
        t.is_leaf,
        t.detach().tolist(),
    )


def place_of(t) -> tuple:
    return (t.untyped_storage().data_ptr(), t.storage_offset() * t.element_size())


def sharing(tensors: list) -> list:
    """For each tensor the first of the same memory, how far behind that one's
    first byte it begins, and the first that is the same object.
    """
    found = []
    places = [place_of(t) for t in tensors]
    for i, (t, (memory, byte)) in enumerate(zip(tensors, places)):
        first = next(j for j in range(i + 1) if places[j][0] == memory)
        same = next(j for j in range(i + 1) if tensors[j] is t)
        empty = t.numel() == 0
        found.append((same,) if empty else (same, first, byte - places[first][1]))
    return found


def called(program: Program, run, state, number: int, after=None) -> dict:
    """All that a caller sees of a call."""
    arguments = program.arguments(number)
    leaves = program.leaves
    given = tensors_in(arguments)
    versions = [version(t) for t in given]
    seen: dict = {}
    before = state.tensors()
    try:
        result = run(*arguments)
    except Exception as error:
        result = None
        seen["error"] = (type(error).__name__, _text_of(error))
    if after is not None:
        after()
    results = tensors_in(result)
    held = tensors_in(arguments[-1])
    # A state is copied, so it neither shares memory nor has other strides.
    everything = [*given, *held, *results]
    seen["state"] = state.seen()
    seen["form"] = type(result).__name__, len(results), len(held)
    seen["tensors"] = [described(t) for t in everything]
    seen["sharing"] = sharing(everything)
    # A capture counts writes to a state, too: to those that there were.
    states = {place_of(t)[0] for t in before if t.numel()}
    seen["result versions"] = [
        min(version(t), 32) for t in results if place_of(t)[0] not in states
    ]
    seen["versions"] = [
        version(t) - v for t, v in zip(given, versions) if place_of(t)[0] not in states
    ]
    seen["gradients"] = gradients(results, leaves)
    seen["retained"] = [retained(t) for t in results]
    # A result that is a new state is its copy where a graph made it: what is
    # written there does not reach the next call.
    bound = [(t, t.detach().clone()) for t in state.tensors()]
    # Writes into one are seen by others.
    with torch.no_grad():
        for i, t in enumerate(results):
            try:
                t.mul_(i + 2)
            except RuntimeError as error:
                seen[f"write {i}"] = _text_of(error)
    seen["afterwards"] = [t.detach().tolist() for t in everything]
    for t, values in bound:
        if not t.equal(values):
            with torch.no_grad(), torch.inference_mode(t.is_inference()):
                t.copy_(values)
    return seen


def _text_of(error: Exception) -> str:
    """Without a graph's or queue's word on which of its calls it was, and
    without the step that made a view, which a graph's calls make by strides.
    """
    text = re.split(r"\n  \(in a (?:graph's|queued) call", str(error))[0]
    return re.sub(r"^Output \d+ of \w+ is a view", "A view", text)


def version(t) -> int:
    """Tensors of inference mode have none."""
    return 0 if t.is_inference() else t._version


def retained(t):
    """The gradient that a result keeps, as no leaf does by itself."""
    return t.grad.tolist() if t.retains_grad and t.grad is not None else None


def gradients(results: list, leaves: list):
    for leaf in leaves:
        leaf.grad = None
    try:
        wanted = [r for r in results if r.requires_grad]
        if not wanted or not leaves:
            return None
        sum((r * r.conj()).real.sum() for r in wanted).backward()
    except RuntimeError as error:
        return type(error).__name__
    return [None if t.grad is None else t.grad.tolist() for t in leaves]
