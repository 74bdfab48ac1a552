"""Tries calls and notes what they do: results, dtypes, errors, kernels, gradients.

A call is text, as a program would write it. It is run once as it stands; then again
with every tensor that has the dtype of the first one cast to another dtype. Results
tell which dtypes an operator takes on the CPU.
"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import warnings
from typing import Any, NamedTuple

import hotaru

DTYPES = {
    "floating": ["float16", "bfloat16", "float32", "float64"],
    "complex": ["complex64", "complex128"],
    "integers": ["uint8", "int8", "int16", "int32", "int64"],
    "bool": ["bool"],
}
_MAKERS = ("tensor", "rand", "randn", "ones", "zeros", "arange", "eye", "full")
_MAKERS += ("linspace", "randint", "complex")
_LINES = 14


class Maker:
    """Stands for `torch` in a call; tensors it makes can be cast."""

    def __init__(self, cast=None, lead=None, grad=False):
        self.cast, self.lead, self.grad = cast, lead, grad
        self.first = None

    def __getattr__(self, name: str) -> Any:
        value = getattr(hotaru, name)
        return functools.partial(self._make, value) if name in _MAKERS else value

    def _make(self, function, *args, **options):
        made = function(*args, **options)
        if self.first is None:
            self.first = made.dtype
        if self.cast is not None and made.dtype == self.lead:
            made = made.to(self.cast)
        if self.grad and (made.is_floating_point() or made.is_complex()):
            made.requires_grad_(True)
        return made


def run(lines: list[str], torch: Any = hotaru) -> Any:
    """The value of the last line, the others run before it."""
    hotaru.manual_seed(0)
    space = {"torch": torch, "nn": hotaru.nn, "F": hotaru.nn.functional}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for line in lines[:-1]:
            exec(line, space)
        return eval(lines[-1], space)


def shown(lines: list[str]) -> str:
    """The lines as a session of Python, with what they give."""
    hotaru.manual_seed(0)
    space = {"torch": hotaru, "nn": hotaru.nn, "F": hotaru.nn.functional}
    out = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in lines:
            out.append(f">>> {line}")
            printed = io.StringIO()
            try:
                with contextlib.redirect_stdout(printed):
                    exec(compile(line, "example", "single"), space)
            except Exception as error:
                FAULTS.append(f"{line}: {error_text(error)}")
            text = printed.getvalue().rstrip().splitlines()
            out += text[:_LINES] + ["..."] * (len(text) > _LINES)
    return "\n".join(out)


class Dtypes(NamedTuple):
    """Dtypes that a call takes, those of results that differ, a refusal."""

    taken: list[str]
    results: dict[str, str]
    refused: str


def first_tensor(value: Any) -> Any:
    """The first tensor in a result."""
    if isinstance(value, hotaru.Tensor):
        return value
    if isinstance(value, (tuple, list)):
        for part in value:
            if (found := first_tensor(part)) is not None:
                return found
    return None


def dtypes(lines: list[str]) -> Dtypes | None:
    """The dtypes with which the lines run; None if they make no tensor."""
    maker = Maker()
    try:
        run(lines, maker)
    except Exception:  # lines that end in no value
        return None
    if maker.first is None:
        return None
    taken, results, refused = [], {}, ""
    for name in itertools.chain(*DTYPES.values()):
        try:
            value = run(lines, Maker(getattr(hotaru, name), maker.first))
        except Exception as error:
            refused = refused or f"{name}: {error_text(error)}"
            continue
        taken.append(name)
        tensor = first_tensor(value)
        if tensor is not None:
            results[name] = str(tensor.dtype).partition(".")[2]
    return Dtypes(taken, results, refused)


def differentiable(lines: list[str]) -> str:
    """The name of the gradient's node; "" if there is none."""
    with contextlib.suppress(Exception):
        tensor = first_tensor(run(lines, Maker(grad=True)))
        if tensor is not None and tensor.grad_fn is not None:
            return type(tensor.grad_fn).__name__
    return ""


def kernels(lines: list[str]) -> list[str]:
    """Kernels that ran in the last line, in order."""
    from hotaru.profiler import profile

    hotaru.manual_seed(0)
    space = {"torch": hotaru, "nn": hotaru.nn, "F": hotaru.nn.functional}
    found: list[str] = []
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with profile() as before:
            for line in lines[:-1]:
                exec(line, space)
        with profile() as whole:
            eval(lines[-1], space)
        del before
        found = [e.name for e in whole.events() if "::" not in e.name]
    return list(dict.fromkeys(found))


def error_text(error: Exception) -> str:
    """An error as its class and its first line."""
    line = (str(error).strip() or "(no text)").splitlines()[0]
    return f"{type(error).__name__}: {line[:200]}"


# Lines of docs/reference that do not do what they are there for.
FAULTS: list[str] = []


def error_of(line: str) -> str:
    """The error that a line raises."""
    try:
        run(line.split("; "))
    except (SyntaxError, NameError) as error:
        FAULTS.append(f"{line}: {error_text(error)}")
    except Exception as error:
        return error_text(error)
    else:
        FAULTS.append(f"{line}: raises nothing")
    return "no error"


# --- calls made from a schema ------------------------------------------------

_TENSORS = [
    "torch.tensor([[4., 1.], [2., 3.]])",
    "torch.tensor([1., 2., 3.])",
    "torch.tensor([[6, 3], [1, 4]])",
    "torch.tensor([0.5, 0.25])",
    "torch.tensor([[True, False], [True, True]])",
    "torch.arange(8.).reshape(2, 2, 2)",
    "torch.arange(16.).reshape(1, 4, 2, 2)",
    "torch.tensor([[1.+2.j, 3.], [0., 1.j]])",
]
_INTEGERS = ("index", "indices", "pivots", "target")


def argument(kind: str, name: str, tensor: str) -> str | None:
    """Text for a required argument; None where nothing fits."""
    if kind == "Tensor":
        if name in _INTEGERS:
            return (
                "torch.tensor([[0, 1], [1, 0]])"
                if "[[" in tensor
                else "torch.tensor([0, 1])"
            )
        if name == "mask" or name == "condition":
            return f"({tensor} > 1)"
        return tensor
    if kind == "int":
        return {"chunks": "2", "groups": "2", "k": "1", "n": "3"}.get(name, "0")
    table = {
        "list[Tensor]": f"[{tensor}, {tensor}]",
        "float": "0.5",
        "Number": "2",
        "bool": "True",
        "list[int]": "(0, 1)" if "dim" in name else "(2, 2)",
        "int | list[int]": "2",
        "dtype": "torch.float64",
    }
    return table.get(kind)


def call_of(schemas: list, spell: str, method: bool) -> list[str] | None:
    """A call of an operator that runs, made from its schemas; None if none does."""
    for schema, tensor in itertools.product(schemas, _TENSORS):
        if any(p.mutated and p.name != "self" for p in schema.parameters):
            continue
        texts = []
        for parameter in schema.parameters:
            if parameter.equals:
                continue
            text = argument(parameter.kind, parameter.name, tensor)
            keyword = "*" in schema.parts and schema.parts.index("*") < [
                p.partition("=")[0].rpartition(" ")[2] for p in schema.parts
            ].index(parameter.name)
            texts.append(f"{parameter.name}={text}" if keyword and text else text)
        if None in texts or not texts:
            continue
        if method:
            call = f"{texts[0]}.{spell}({', '.join(texts[1:])})"
        else:
            call = f"{spell}({', '.join(texts)})"
        try:
            run([call])
        except Exception:
            continue
        short = [f"x = {tensor}", call.replace(tensor, "x")]
        return short if call.count(tensor) > 0 else [call]
    return None
