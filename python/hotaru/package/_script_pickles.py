"""The pickles of compiled modules: which tensors are where, and renaming.

Their form is TorchScript's: objects of classes whose names begin with
`__torch__`, and storages as tuples ("storage", type, key, device, count).
"""

from __future__ import annotations

import io
import pickle
import pickletools
import struct
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .. import _C
from ._pickled_names import GETS, PUTS, TEXTS

_PROGRAM = "__torch__"


class TensorRecord(NamedTuple):
    """Record of a tensor in a pickle: strides and offset in elements."""

    key: str
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]


class _Instance:
    """An object of a class of the program, with its attributes."""

    def __setstate__(self, state) -> None:
        self.state = state


class _Opaque:
    """Anything else: made of anything, and of no interest."""

    def __init__(self, *_) -> None:
        pass

    def __setstate__(self, state) -> None:
        pass


class _Reader(pickle._Unpickler):
    """Runs nothing of what the pickle names."""

    def find_class(self, module: str, name: str):
        if module.partition(".")[0] == _PROGRAM:
            return type(name, (_Instance,), {})
        if name == "OrderedDict":
            return OrderedDict
        if module == "torch._utils" and name.startswith("_rebuild_tensor"):
            return lambda key, offset, shape, stride, *_: TensorRecord(
                key, offset, shape, stride
            )
        if module == "torch.jit._pickle":  # typed lists and dicts
            return lambda value, *_: value
        return _Opaque

    def persistent_load(self, saved):
        return str(saved[2])


def live_tensors(data: bytes, native) -> Iterator[tuple[TensorRecord, object]]:
    """Pairs of what a module's pickle says of a tensor and the tensor.

    Args:
        data: the pickle. native: the module that it was made of, or that was
            made of it.
    """
    return _pairs(_Reader(io.BytesIO(data)).load(), native)


def _pairs(value, live) -> Iterator:
    if isinstance(value, TensorRecord):
        if isinstance(live, _C.Tensor):
            yield value, live
    elif isinstance(value, _Instance):
        read = getattr(getattr(live, "_c", live), "attribute", None)
        state = getattr(value, "state", None)
        if isinstance(state, dict):
            for name, part in state.items():
                known = read(name) if read else getattr(live, name, None)
                yield from _pairs(part, known)
    elif isinstance(value, (list, tuple)) and isinstance(live, (list, tuple)):
        for part, one in zip(value, live):
            yield from _pairs(part, one)
    elif isinstance(value, dict) and isinstance(live, dict):
        for key, part in value.items():
            if isinstance(key, (str, int, float, bool)) and key in live:
                yield from _pairs(part, live[key])


def storage_keys(data: bytes) -> list[str]:
    """The keys of the storages that a pickle refers to, each once."""
    texts = _texts(list(pickletools.genops(data)))
    return list(dict.fromkeys(texts.keys.values()))


class _Texts(NamedTuple):
    keys: dict[int, str]  # by the place of the instruction
    by_memo: dict[int, tuple[int, str]]  # place and text


def _texts(instructions) -> _Texts:
    """Which instructions give keys of storages, and which texts are kept."""
    by_memo: dict[int, tuple[int, str]] = {}
    recent: list[tuple[int, str | None]] = []
    keys: dict[int, str] = {}
    for place, (opcode, argument, _) in enumerate(instructions):
        kind = opcode.name
        if kind in PUTS:
            if recent and recent[-1][1] is not None:
                by_memo[argument] = recent[-1]
            continue
        if kind == "BINPERSID":
            # ( "storage" type key device count ) makes the tuple before.
            at, text = recent[-4]
            if text is None:
                raise ValueError("a storage whose key is not a text")
            keys[at] = text
        text = argument if kind in TEXTS else None
        if kind in GETS:
            text = by_memo.get(argument, (0, None))[1]
        recent.append((place, text))
    return _Texts(keys, by_memo)


def rewritten(
    data: bytes, key: Callable[[str], str], name: Callable[[str], str]
) -> bytes:
    """A pickle with other keys of storages and names of classes.

    Args:
        key, name: give the new one, of a key and of the module of a class
            together with its name, parted by a dot.
    """
    instructions = list(pickletools.genops(data))
    texts = _texts(instructions)
    ends = [place for _, _, place in instructions[1:]] + [len(data)]
    out = bytearray()
    for place, (opcode, argument, begin) in enumerate(instructions):
        kind = opcode.name
        if place in texts.keys:
            out += _text(key(texts.keys[place]))
        elif kind in GETS and texts.by_memo.get(argument, (-1,))[0] in (texts.keys):
            out += _text(texts.by_memo[argument][1])  # no key, yet its text
        elif kind == "GLOBAL" and argument.startswith(_PROGRAM):
            new = name(argument.replace(" ", ".")).rpartition(".")
            out += pickle.GLOBAL + f"{new[0]}\n{new[2]}\n".encode()
        else:
            out += data[begin : ends[place]]
    return bytes(out)


def _text(value: str) -> bytes:
    encoded = value.encode()
    return pickle.BINUNICODE + struct.pack("<I", len(encoded)) + encoded
