"""An interpreter of `bytecode.pkl`, written from its description alone.

Operators of tensors are torch.ops'; those of the language are Python's.
"""

from __future__ import annotations

import io
import math
import operator
import pickle
import zipfile

import hotaru as torch

LANGUAGE = {
    "aten::len": len,
    "aten::append": lambda items, x: items.append(x) or items,
    "aten::__contains__": lambda items, x: x in items,
    "aten::keys": lambda d: list(d),
    "aten::values": lambda d: list(d.values()),
    "aten::items": lambda d: list(d.items()),
    "aten::_set_item": operator.setitem,
    "aten::Delete": operator.delitem,
    "aten::update": lambda d, other: d.update(other),
    "aten::pop": lambda items, at=-1: items.pop(at),
    "aten::sorted": sorted,
    "aten::split": lambda text, mark=None, most=-1: text.split(mark, most),
    "aten::join": lambda mark, items: mark.join(items),
    "aten::copy": lambda items: items.copy(),
    "aten::slice": lambda x, first=None, last=None, step=1: x[first:last:step],
    "aten::list": list,
    "prim::max": lambda *x: max(*x),
    "prim::min": lambda *x: min(*x),
    "prim::unchecked_cast": lambda x: x,
    "aten::IntImplicit": int,
    "aten::Float": float,
    "aten::tensor": lambda x, dtype=None, *_: torch.tensor(x, dtype=dtype),
}
NUMBERS = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "floordiv": operator.floordiv,
    "remainder": operator.mod,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "gt": operator.gt,
    "le": operator.le,
    "ge": operator.ge,
    "neg": operator.neg,
    "floor": math.floor,
    "__getitem__": operator.getitem,
}
ELEMENTS = ("int", "float", "complex", "bool")
MIXED = ("append", "unchecked_cast", "IntImplicit")  # also of tensors
METHODS = ("to_sparse", "to_dense", "coalesce")
MISSING = object()
NAMES = (
    "uint8 int8 int16 int32 int64 float16 float32 float64 complex32 complex64 "
    "complex128 bool qint8 quint8 qint32 bfloat16"
)
DTYPES = tuple(getattr(torch, name) for name in NAMES.split())
NUMBERED = {
    "dtype": DTYPES,
    "input_dtype": DTYPES,
    "layout": (torch.strided, torch.sparse_coo),
    "memory_format": (
        torch.contiguous_format,
        torch.preserve_format,
        torch.channels_last,
        torch.channels_last_3d,
    ),
}
KINDS = {
    "FloatStorage": torch.float32,
    "DoubleStorage": torch.float64,
    "LongStorage": torch.int64,
    "BoolStorage": torch.bool,
}


def called(name: str, overload: str, args: list):
    """Results of an operator, of its arguments in the order of its schema."""
    if name in METHODS:
        return [getattr(torch.Tensor, name)(*args)]
    operator = getattr(getattr(torch.ops.aten, name), overload or "default")
    arguments = operator._schema.arguments
    args = [
        NUMBERED[a.name][x] if a.name in NUMBERED and type(x) is int else x
        for a, x in zip(arguments, args)
    ]
    named = {a.name: x for a, x in zip(arguments, args) if a.kwarg_only}
    result = operator(*args[: len(args) - len(named)], **named)
    count = len(operator._schema.returns)
    return list(result) if count > 1 else [result][:count]


def is_of(value, kind: str) -> bool:
    """True if the value is of the type with that text."""
    if kind.startswith("List["):
        return isinstance(value, list) and all(is_of(x, kind[5:-1]) for x in value)
    if kind.startswith("Tuple["):
        return isinstance(value, tuple)
    return type(value).__name__ == kind


class _Object:
    """An object of the archive: attributes by their order."""

    def __init__(self, *_) -> None:
        self.slots: list = []

    def __setstate__(self, state) -> None:
        self.slots = list(state.values())


class _Reader(pickle.Unpickler):
    def __init__(self, archive, name: str, folder: str) -> None:
        root = archive.namelist()[0].partition("/")[0]
        super().__init__(io.BytesIO(archive.read(f"{root}/{name}")))
        self._read = lambda key: archive.read(f"{root}/{folder}/{key}")

    def find_class(self, module: str, name: str):
        if module.startswith("__torch__"):
            return _Object
        if module == "torch.jit._pickle":
            return lambda items: items
        if name == "_rebuild_tensor_v2":
            return lambda flat, first, size, stride, *_: flat.as_strided(
                size, stride, first
            )
        if name in ("OrderedDict", "complex"):
            return {"OrderedDict": dict, "complex": complex}[name]
        return getattr(torch, name)

    def persistent_load(self, pid):
        _, kind, key, _, count = pid
        flat = torch.empty(count, dtype=KINDS[kind.__name__])
        if count:
            data = bytearray(self._read(key))
            flat.view(torch.uint8).copy_(torch.frombuffer(data, dtype=torch.uint8))
        return flat


class Machine:
    """The methods of an archive, which are called by name."""

    def __init__(self, data: bytes) -> None:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            self.version, *functions = _Reader(
                archive, "bytecode.pkl", "constants"
            ).load()
            self.module = _Reader(archive, "data.pkl", "data").load()
        self.functions = {row[0]: dict(row[1]) for row in functions}

    def call(self, name: str, *args):
        """Calls a function by the end of its name."""
        (code,) = [c for n, c in self.functions.items() if n.endswith(name)]
        stack = list(args)
        _Frame(code).run(stack)
        return stack[0]


class _Frame:
    def __init__(self, code: dict) -> None:
        self.code = code
        self.registers: dict[int, object] = {}

    def run(self, stack: list) -> None:
        at = 0
        while True:
            name, x, n = self.code["instructions"][at]
            if name == "RET":
                return
            at += self.step(stack, name, x, n)

    def _pops(self, stack: list, count: int) -> list:
        taken = stack[len(stack) - count :]
        del stack[len(stack) - count :]
        return taken

    def step(self, stack: list, name: str, x: int, n: int) -> int:
        """Runs an instruction; gives how far the next one is."""
        registers = self.registers
        if name in ("LOAD", "MOVE"):
            stack.append(registers[x] if name == "LOAD" else registers.pop(x))
        elif name in ("STORE", "STOREN"):
            for i, value in enumerate(self._pops(stack, n or 1)):
                registers[x + i] = value
        elif name == "DROPR":
            registers.pop(x, None)
        elif name == "DROP":
            stack.pop()
        elif name == "LOADC":
            stack.append(self.code["constants"][x])
        elif name == "JF":
            return 1 if stack.pop() else x
        elif name == "JMP":
            return x
        elif name == "LOOP":
            return self.loop(stack, x, n)
        elif name in ("OP", "OPN"):
            self.operator(stack, *self.code["operators"][x], n)
        else:
            self.simple(stack, name, x, n)
        return 1

    def loop(self, stack: list, x: int, n: int) -> int:
        turn, limit, goes_on, *carried = self._pops(stack, n + 1)
        if turn < limit and goes_on:
            stack += [turn + 1, limit, turn, *carried]
            return 1
        stack += carried
        return x

    def operator(self, stack, name: str, overload: str, count: int, n: int) -> None:
        args = self._pops(stack, n if count < 0 else count)
        base = name.partition("::")[2]
        plain = not any(isinstance(a, torch.Tensor) for a in args[:2])
        if base == "Print":
            return
        if name == "prim::TupleUnpack":
            stack += args[0]
        elif name in LANGUAGE and (plain or base in MIXED):
            result = LANGUAGE[name](*args)
            if name == "aten::_set_item" and overload == "t":
                stack.append(args[0])
            elif base not in ("_set_item", "Delete", "update"):
                stack.append(result)
        elif base in NUMBERS and (plain or base == "__getitem__"):
            stack.append(NUMBERS[base](*args))
        else:
            stack += called(base, overload, args)

    def simple(self, stack: list, name: str, x: int, n: int) -> None:
        if name in ("GET_ATTR", "SET_ATTR"):
            value = MISSING if name == "GET_ATTR" else stack.pop()
            owner = stack.pop()
            if value is MISSING:
                stack.append(owner.slots[x])
            else:
                owner.slots[x] = value
            return
        count = {
            "LIST_CONSTRUCT": n,
            "DICT_CONSTRUCT": n,
            "NAMED_TUPLE_CONSTRUCT": n,
            "TUPLE_CONSTRUCT": x,
            "FORMAT": x,
            "WARN": 2,
            "TO_LIST": 3,
            "__IS__": 2,
            "__ISNOT__": 2,
            "TUPLE_INDEX": 2,
            "DICT_INDEX": 2,
            "RAISE_EXCEPTION": 2,
            "UN_INITIALIZED": 0,
        }.get(name, 1)
        args = self._pops(stack, count)
        if name == "LIST_UNPACK":
            assert len(args[0]) == x
            stack += args[0]
        elif name != "WARN":
            stack.append(self.value(name, x, n, args))

    def value(self, name: str, x: int, n: int, args: list):
        first = args[0] if args else None
        if name == "LIST_CONSTRUCT":
            return args
        if name == "DICT_CONSTRUCT":
            return dict(zip(args[::2], args[1::2]))
        if name in ("TUPLE_CONSTRUCT", "NAMED_TUPLE_CONSTRUCT"):
            return tuple(args)
        if name == "FORMAT":
            return first.format(*args[1:])
        if name in ("TUPLE_INDEX", "DICT_INDEX"):
            return first[args[1]]
        if name == "TO_LIST":
            kind = ELEMENTS[args[2]]
            assert first.dim() == args[1]
            assert kind == type(first.sum().item()).__name__
            return first.tolist()
        if name == "ISINSTANCE":
            kinds = self.code["types"][x : x + n]
            return any(is_of(first, kind) for kind in kinds)
        if name == "RAISE_EXCEPTION":
            raise RuntimeError(first)
        return {
            "__IS__": lambda: first is args[1],
            "__ISNOT__": lambda: first is not args[1],
            "__NOT__": lambda: not first,
            "DIM": lambda: first.dim(),
            "DTYPE": lambda: first.dtype,
            "DEVICE": lambda: first.device,
            "IS_CUDA": lambda: first.is_cuda,
            "UN_INITIALIZED": lambda: None,
            "NUM_TO_TENSOR": lambda: torch.tensor(first),
        }[name]()
