"""Calls every operator with arguments of random kinds, in a process of its own.

    python tests/python/core/fuzz_calls.py SEED CALLS [NAME...]

Any exception will do; a signal, an abort or a hang is a bug. The call under
way is kept in the file that HOTARU_FUZZ_LOG names.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import sys
import warnings

import hotaru

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
MEMORY = 4 << 30
SECONDS = 10
INTS = (
    -(2**63),
    -(2**31) - 1,
    -7,
    -3,
    -2,
    -1,
    0,
    1,
    2,
    3,
    4,
    5,
    8,
    17,
    2**31,
    2**33,
    2**62,
    2**63 - 1,
    2**63,
    2**70,
)
FLOATS = (0.0, -0.0, 0.5, 1.0, -2.5, 1e-300, 1e300, float("inf"), float("nan"))


class Maker:
    """Random arguments; `random` decides, so a seed fixes them."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def shape(self):
        r = self.random
        return [r.choice((0, 1, 1, 2, 3, 4, 5)) for _ in range(r.randrange(6))]

    def tensor(self):
        r = self.random
        dtype = getattr(hotaru, r.choice(DTYPES))
        t = hotaru.full(self.shape(), r.choice((0, 1, 2, 3)), dtype=dtype)
        kind = r.randrange(8)
        if kind == 0 and t.dim() > 1:
            t = t.transpose(0, -1)
        elif kind == 1 and t.dim() > 0:
            t = t[..., :1].expand(t.shape) if t.shape[-1] else t
        elif kind == 2 and t.dim() > 0:
            t = t[::2]
        elif kind == 3 and dtype.is_floating_point:
            t = t.clone().requires_grad_()
        elif kind == 4 and dtype.is_floating_point:
            t = t.clone().requires_grad_() * 1
        elif kind == 5 and not dtype.is_complex and t.numel():
            t = t.clone()
            t.view(-1)[0] = r.choice((-1, 7, 100)) if dtype.is_signed else 9
        return t

    def number(self):
        r = self.random
        return r.choice(
            (r.choice(INTS), r.choice(INTS[5:13]), r.choice(FLOATS), 1j, True)
        )

    def value(self, depth=0):
        r = self.random
        kind = r.randrange(14 if depth < 2 else 9)
        if kind < 4:
            return self.tensor()
        if kind < 6:
            return self.number()
        if kind == 6:
            return r.choice((None, True, False))
        if kind == 7:
            return r.choice(
                ("", "mean", "sum", "none", "cpu", "cuda:0", "ij,jk->ik", "x\0é")
            )
        if kind == 8:
            return r.choice(
                (
                    hotaru.float32,
                    hotaru.int64,
                    hotaru.device("cpu"),
                    object(),
                    hotaru.strided,
                    slice(None),
                    ...,
                    b"ab",
                    int,
                    {1: 2},
                )
            )
        items = [self.value(depth + 1) for _ in range(r.randrange(4))]
        if kind in (9, 10):
            items = [r.choice(INTS[3:13]) for _ in items]
        elif kind == 11:
            items = [self.tensor() for _ in items]
        return tuple(items) if r.randrange(2) else items

    def fitting(self, text):
        """A value that the schema's type text may accept."""
        r = self.random
        if r.randrange(12) == 0:
            return self.value()
        if text.endswith("?") and r.randrange(3) == 0:
            return None
        if "Tensor" in text:
            if "[" in text:
                return [self.tensor() for _ in range(r.randrange(5))]
            return self.tensor()
        if text.startswith(("int", "SymInt")):
            if "[" in text:
                return [r.choice(INTS[2:13]) for _ in range(r.randrange(5))]
            return r.choice(INTS if r.randrange(4) == 0 else INTS[3:13])
        if text.startswith("bool"):
            return bool(r.randrange(2))
        if text.startswith("float"):
            return r.choice(FLOATS)
        if text.startswith("Scalar"):
            return self.number()
        if text.startswith("ScalarType"):
            return getattr(hotaru, r.choice(DTYPES))
        return self.value()


def schema_types(schema: str):
    """The types of the arguments of a schema: (name, type, keyword only)."""
    inside = schema[schema.index("(") + 1 : schema.rindex(" -> ")]
    inside = inside[: inside.rindex(")")]
    depth, part, parts = 0, "", []
    for c in inside:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    parts.append(part.strip())
    keyword = False
    for part in parts:
        if part == "*":
            keyword = True
        elif part:
            words = part.split("=")[0].split()
            yield words[-1], " ".join(words[:-1]), keyword


def arguments(maker, name):
    r = maker.random
    if r.randrange(4) == 0:
        args = [maker.value() for _ in range(r.randrange(5))]
        kwargs = {}
        if r.randrange(4) == 0:
            key = r.choice(("dim", "out", "dtype", "axis", "self", "foo", "é"))
            kwargs[key] = maker.value()
        return args, kwargs
    args, kwargs = [], {}
    given = list(schema_types(r.choice(hotaru._C._op_schemas(name))))
    for key, text, keyword in given[: r.randrange(len(given) + 1) or None]:
        value = maker.fitting(text)
        if keyword or kwargs or r.randrange(8) == 0:
            kwargs[key] = value
        else:
            args.append(value)
    if r.randrange(30) == 0:
        kwargs["out"] = maker.tensor()
    return args, kwargs


def use(result):
    """Reads what came back, and goes backward through it."""
    for item in result if isinstance(result, (list, tuple)) else [result]:
        if not isinstance(item, hotaru.Tensor):
            continue
        if item.numel() < 100_000:
            item.clone().tolist()
            repr(item)
        if item.requires_grad and item.numel() < 100_000:
            item.backward(hotaru.ones_like(item), retain_graph=True)


def show(value) -> str:
    if isinstance(value, hotaru.Tensor):
        return (
            f"T({list(value.shape)}, {value.stride()}, {value.dtype}, "
            f"grad={value.requires_grad})"
        )
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(show, value)) + "]"
    return repr(value)


class TooLongError(BaseException):
    """A call took too long and came back to Python."""


def too_long(number, frame):
    raise TooLongError


def main() -> None:
    seed, calls = int(sys.argv[1]), int(sys.argv[2])
    names = sys.argv[3:] or sorted(n for n in vars(hotaru.ops) if not n.startswith("_"))
    path = os.environ["HOTARU_FUZZ_LOG"]
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, too_long)
    hotaru.set_num_threads(1)
    with open(path, "w") as log:
        for name in names:
            operator = getattr(hotaru.ops, name)
            for i in range(calls):
                maker = Maker(f"{seed} {name} {i}")
                args, kwargs = arguments(maker, name)
                text = ", ".join([show(a) for a in args])
                text += "".join(f", {k}={show(v)}" for k, v in kwargs.items())
                log.seek(0)
                log.truncate()
                log.write(f"{seed} {i} {name}({text})")
                log.flush()
                signal.alarm(SECONDS)
                try:
                    use(operator(*args, **kwargs))
                except Exception:
                    pass
                finally:
                    signal.alarm(0)
    print("ok", len(names))


if __name__ == "__main__":
    main()
