"""Forms of calls as text, and what is sent to the two protocols for them.

A form is [name, arguments, named arguments]. The name is the path of a public
function ("torch.add", "torch.Tensor.add"), of one of Python's operators
("operator.add"), or of an attribute ("get T"). Values are JSON; a text that
starts with `T:` is a tensor, one with another letter and a colon names a dtype,
a device and so on (`Coder`). What a protocol is sent is a text, too: names of
functions and kinds of their arguments (`kind`).
"""

from __future__ import annotations

import builtins
import math
import operator
import warnings

_DTYPES = {
    "f": "float32",
    "d": "float64",
    "h": "float16",
    "w": "bfloat16",
    "l": "int64",
    "i": "int32",
    "s": "int16",
    "c": "int8",
    "B": "uint8",
    "b": "bool",
    "z": "complex64",
    "Z": "complex128",
}
_LETTERS = {name: letter for letter, name in _DTYPES.items()}
_NAMED = {"D": "dtype", "L": "layout", "M": "memory_format"}


class Coder:
    """Writes values as JSON and makes them again, with either library."""

    def __init__(self, lib) -> None:
        self.lib = lib

    def decode(self, value):
        """The value of what `encode` wrote."""
        if isinstance(value, list):
            return [self.decode(v) for v in value]
        if isinstance(value, dict):
            return self._made(value)
        if not isinstance(value, str) or value[1:2] != ":":
            return value
        letter, text = value[0], value[2:]
        if letter == "T":
            return self.tensor(text)
        if letter in _NAMED:
            return getattr(self.lib, text)
        if letter == "F":
            return float(text)
        if letter == "C":
            return complex(text)
        return self.lib.device(text) if letter == "V" else text

    def _made(self, value):
        ((kind, data),) = value.items()
        if kind == "tuple":
            return tuple(self.decode(v) for v in data)
        if kind == "slice":
            return slice(*(self.decode(v) for v in data))
        if kind == "dots":
            return ...
        return {k: self.decode(v) for k, v in data.items()}

    def tensor(self, text: str):
        """A tensor of "letter sizes[@strides][=values]"."""
        head, _, values = text.partition("=")
        sizes, _, strides = head[1:].partition("@")
        sizes = [int(s) for s in sizes.split(",") if s]
        count = math.prod(sizes)
        dtype = getattr(self.lib, _DTYPES[head[0]])
        given = self._numbers(head[0], values, count)
        made = self.lib.tensor(given, dtype=dtype).reshape(sizes).clone()
        if strides:
            steps = [int(s) for s in strides.split(",")]
            room = 1 + sum((n - 1) * s for n, s in zip(sizes, steps) if n)
            place = self.lib.zeros(max(room, 0), dtype=dtype)
            place = place.as_strided(sizes, steps)
            if all(s for n, s in zip(sizes, steps) if n > 1):
                place.copy_(made)
            return place
        return made

    def _numbers(self, letter: str, values: str, count: int) -> list:
        if values:
            read = complex if letter in "zZ" else float
            return [read(v) for v in values.split(",")]
        if letter in "fdhwzZ":
            return [((7 * i + 3) % 11 - 2) / 8 for i in range(count)]
        return [(3 * i + 1) % 4 % (2 if letter == "b" else 4) for i in range(count)]

    def encode(self, value, exact: bool = False):
        """JSON of a value; TypeError where there is none. `exact`: with the
        values of tensors, which else are any.
        """
        lib = self.lib
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return f"S:{value}" if value[1:2] == ":" else value
        if isinstance(value, lib.Tensor):
            return self._text(value, exact)
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else f"F:{value}"
        if isinstance(value, complex):
            return f"C:{value}"
        if isinstance(value, tuple):
            return {"tuple": [self.encode(v, exact) for v in value]}
        if isinstance(value, list):
            return [self.encode(v, exact) for v in value]
        if isinstance(value, dict):
            return {"dict": {k: self.encode(v, exact) for k, v in value.items()}}
        if isinstance(value, slice):
            parts = (value.start, value.stop, value.step)
            return {"slice": [self.encode(v, exact) for v in parts]}
        if value is ...:
            return {"dots": 0}
        for letter, name in _NAMED.items():
            if isinstance(value, getattr(lib, name)):
                return f"{letter}:{str(value).removeprefix('torch.')}"
        if isinstance(value, lib.device):
            return f"V:{value}"
        raise TypeError(type(value).__name__)

    def _text(self, x, exact: bool) -> str:
        letter = _LETTERS.get(str(x.dtype).removeprefix("torch."))
        if letter is None or x.layout != self.lib.strided or x.is_quantized:
            raise TypeError(f"{x.dtype} {x.layout}")
        if x.is_neg() or x.is_conj() or x.device.type != "cpu":
            raise TypeError("a lazy tensor")
        text = f"T:{letter}" + ",".join(map(str, x.shape))
        if not x.is_contiguous():
            text += "@" + ",".join(map(str, x.stride()))
        if letter in "fdhwzZ" and not exact:
            return text
        if x.numel() > 100:
            raise TypeError("too many values")
        values = x.flatten().tolist()
        if letter in "zZ":
            values = [f"{v.real:.4g}{v.imag:+.4g}j" for v in values]
        elif letter in "fdhw":
            values = [f"{v:.4g}" for v in values]
        else:
            values = [str(int(v)) for v in values]
        return text + ("=" + ",".join(values) if values else "")


def kind(lib, value) -> str:
    """One letter or name for an argument: numbers of a kind are alike."""
    if isinstance(value, lib.Tensor):
        return "T"
    if value is None:
        return "N"
    if isinstance(value, (bool, int, float, complex)):
        return type(value).__name__[0]
    if isinstance(value, str):
        return f"'{value}'" if len(value) < 40 else "'...'"
    if isinstance(value, (list, tuple)):
        kinds = [kind(lib, v) for v in value]
        if len(kinds) > 1 and len(set(kinds)) == 1:
            return f"[{kinds[0]}{len(kinds)}]"
        return f"[{','.join(kinds)}]"
    if isinstance(value, dict):
        return "{" + ",".join(map(str, value)) + "}"
    if isinstance(value, (lib.dtype, lib.layout, lib.memory_format)):
        return str(value).rpartition(".")[2]
    return "device" if isinstance(value, lib.device) else type(value).__name__


def _kinds(lib, args, kwargs) -> str:
    found = [kind(lib, a) for a in args or ()]
    named = (kwargs or {}).items()
    return ",".join(found + sorted(f"{k}={kind(lib, v)}" for k, v in named))


class Watchers:
    """Classes and modes of a library that note what they are sent."""

    def __init__(self, lib) -> None:
        self.lib = lib
        self.seen: list[str] = []
        self.resolve_name = lib.overrides.resolve_name
        self.function_mode = self._function_mode()
        self.subclass = self._subclass()
        self.dispatch_mode = self._dispatch_mode()
        self.wrapper = self._wrapper()

    def note_function(self, func, args, kwargs) -> None:
        name = self.resolve_name(func)
        if name is None:
            name = getattr(func, "__name__", type(func).__name__)
        name = name.replace("hotaru", "torch")
        self.seen.append(f"{name}({_kinds(self.lib, args, kwargs)})")

    def note_operator(self, func, args, kwargs) -> None:
        name = str(func).removeprefix("aten.").removesuffix(".default")
        self.seen.append(f"{name}({_kinds(self.lib, args, kwargs)})")

    def _function_mode(self):
        watchers = self

        class Mode(self.lib.overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                watchers.note_function(func, args, kwargs)
                return func(*args, **(kwargs or {}))

        return Mode

    def _subclass(self):
        watchers = self

        class Sub(self.lib.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                watchers.note_function(func, args, kwargs)
                return super().__torch_function__(func, types, args, kwargs or {})

        return Sub

    def _dispatch_mode(self):
        from importlib import import_module

        name = f"{self.lib.__name__}.utils._python_dispatch"
        base = import_module(name).TorchDispatchMode
        watchers = self

        class Mode(base):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                watchers.note_operator(func, args, kwargs)
                return func(*args, **(kwargs or {}))

        return Mode

    def _wrapper(self):
        lib, watchers = self.lib, self

        class Wrapper(lib.Tensor):
            @staticmethod
            def __new__(cls, inner):
                made = lib.Tensor._make_wrapper_subclass(
                    cls,
                    inner.size(),
                    strides=inner.stride(),
                    storage_offset=inner.storage_offset(),
                    dtype=inner.dtype,
                )
                made.held = inner
                return made

            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                watchers.note_operator(func, args, kwargs)
                given = over(args, lambda x: getattr(x, "held", x), lib)
                named = over(kwargs or {}, lambda x: getattr(x, "held", x), lib)
                found = func(*given, **named)
                if not str(func).partition(".default")[0].endswith("_"):
                    return over(found, cls, lib)
                return args[0] if isinstance(found, lib.Tensor) else found

        return Wrapper


def over(value, function, lib):
    """The value with `function` of its tensors."""
    if isinstance(value, lib.Tensor):
        return function(value)
    if type(value) in (list, tuple):
        return type(value)(over(v, function, lib) for v in value)
    if isinstance(value, tuple):
        return tuple(over(v, function, lib) for v in value)
    if isinstance(value, dict):
        return {k: over(v, function, lib) for k, v in value.items()}
    return value


def find(lib, name: str):
    """The function of a form; AttributeError where there is none."""
    if name.startswith("get "):
        return lambda x: getattr(x, name[4:])
    if name.startswith("set "):
        return lambda x, value: setattr(x, name[4:], value)
    root, *parts = name.split(".")
    found = {"torch": lib, "operator": operator, "builtins": builtins}[root]
    for part in parts:
        found = getattr(found, part)
    return found


def _call(watchers, function, args, kwargs) -> str:
    watchers.seen.clear()
    watchers.lib.manual_seed(0)
    try:
        function(*args, **kwargs)
    except Exception as error:
        watchers.seen.append(type(error).__name__)
    return " ".join(watchers.seen)


def sent(watchers, form) -> list[str]:
    """Texts of what protocols are sent for a form: `__torch_function__` of a
    mode and of a subclass, `__torch_dispatch__` of a mode and of a wrapper; and
    what `make_fx` writes.
    """
    lib = watchers.lib
    name, args, kwargs = form
    code = Coder(lib)
    function = find(lib, name)

    def given(convert=None):
        values = [code.decode(args), {k: code.decode(v) for k, v in kwargs.items()}]
        return over(values, convert, lib) if convert else values

    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = given()
        with watchers.function_mode():
            found.append(_call(watchers, function, *plain))
        subs = given(lambda x: x.as_subclass(watchers.subclass))
        found.append(_call(watchers, function, *subs))
        plain = given()
        with watchers.dispatch_mode():
            found.append(_call(watchers, function, *plain))
        wrapped = given(watchers.wrapper)
        found.append(_call(watchers, function, *wrapped))
        found.append(_graph(lib, function, *given()))
    return found


def names_of(text: str) -> str:
    """Names alone of operators that were sent."""
    return " ".join(word.partition("(")[0] for word in text.split(" "))


def _graph(lib, function, args, kwargs) -> str:
    """Targets of the graph that `make_fx` makes of a call, if of tensors."""
    from importlib import import_module

    tensors: list = []
    over([args, kwargs], tensors.append, lib)
    if not tensors:
        return ""

    def called(*given):
        rest = iter(given)
        values = over([args, kwargs], lambda x: next(rest), lib)
        return function(*values[0], **values[1])

    proxies = import_module(f"{lib.__name__}.fx.experimental.proxy_tensor")
    lib.manual_seed(0)
    try:
        graph = proxies.make_fx(called)(*tensors).graph
    except Exception as error:
        return type(error).__name__
    return " ".join(
        str(node.target).removeprefix("aten.").removesuffix(".default")
        for node in graph.nodes
        if node.op == "call_function" and node.target is not operator.getitem
    )
