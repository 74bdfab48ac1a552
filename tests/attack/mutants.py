"""Damaged files: how files of four kinds are made, and how they are changed."""

from __future__ import annotations

import io
import pickletools
import random
import re
import zipfile
from pathlib import Path

import numpy as np

import hotaru as torch

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "script"
INTS = (
    -(2**63),
    -(2**31),
    -1,
    0,
    1,
    2,
    3,
    7,
    64,
    255,
    65535,
    2**31 - 1,
    2**31,
    2**32,
    2**40,
    2**61,
    2**62,
    2**63 - 1,
)


# Lines that a program in a file may run on its result T; I is any integer.
_RISKY = (
    "torch.resize_(T, [I])",
    "torch.resize_(T, [I, I])",
    "torch.as_strided(T, [I], [I], I)",
    "torch.as_strided(T, [2], [1], I)",
    "torch.select(T, 0, I)",
    "torch.slice(T, 0, I, I, I)",
    "torch.narrow(T, 0, I, I)",
    "torch.expand(T, [I, -1])",
    "torch.repeat(T, [I, I])",
    "torch.zeros([I, I])",
    "torch.view(T, [I, -1])",
    "torch.index_fill(T, 0, torch.arange(2), I)",
    "torch.unfold(T, 0, I, I)",
    "torch.constant_pad_nd(T, [I, I])",
    "torch.roll(T, [I], [0])",
    "torch.arange(I)",
    "torch.tril_indices(I, I)",
    "torch.diag_embed(T, I)",
    "torch.index_select(T, 0, torch.full([2], I, dtype=4))",
    "torch.max_pool1d(T, [I], [I], [I], [I])",
    "torch.repeat_interleave(T, I)",
    "torch.adaptive_avg_pool1d(T, [I])",
    "torch.one_hot(torch.arange(3), I)",
)


class _Masked(torch.nn.Module):
    """Values of a boolean buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mask", torch.arange(4) % 2 == 0)

    def forward(self, x):
        h = self.mask.nonzero()
        return h


class _Chosen(_Masked):
    """Columns that a boolean buffer selects."""

    def forward(self, x):
        h = x[:, self.mask]
        return h


class _Indexed(torch.nn.Module):
    """A view of a buffer, rows of it by number."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("index", torch.tensor([0, 2, 1]))
        self.register_buffer("part", torch.arange(24.0).reshape(4, 6).t()[1:])

    def forward(self, x):
        h = self.part[self.index, :2]
        return h


class _Sized(torch.nn.Module):
    """Sizes that the file holds."""

    def __init__(self) -> None:
        super().__init__()
        self.size = 4
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        h = torch.relu(self.linear(x)) + torch.zeros([self.size])
        return h


class _Net(torch.nn.Module):
    """Each part runs by itself: what one refuses hides no other."""

    def __init__(self) -> None:
        super().__init__()
        self.masked = _Masked()
        self.chosen = _Chosen()
        self.indexed = _Indexed()
        self.sized = _Sized()

    def forward(self, x):
        h = x * 2
        return h


def _saved(save, *args) -> bytes:
    buffer = io.BytesIO()
    save(*args, buffer)
    return buffer.getvalue()


def _scripted() -> bytes:
    torch.manual_seed(0)
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(_Net()), buffer)
    return buffer.getvalue()


def _state() -> bytes:
    names = (
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
    )
    state = {
        name: (torch.arange(12) % 2).to(getattr(torch, name)).reshape(3, 4)
        for name in names
    }
    state["view"] = torch.arange(24.0).reshape(4, 6).t()[1:, ::2]
    state["shared"] = state["float32"][1]
    state["nested"] = [1, (2.5, "text"), {"k": torch.zeros(0, 3)}]
    return _saved(lambda value, f: torch.save(value, f), state)


def _arrays() -> list[bytes]:
    arrays = [
        np.arange(12.0, dtype=np.float32).reshape(3, 4),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.array([True, False]),
        np.array(3 + 1j),
        np.zeros((0, 2), np.uint8),
    ]
    return [_saved(lambda a, f: np.save(f, a), array) for array in arrays]


def seeds() -> dict[str, list[bytes]]:
    """Sound files of each kind."""
    return {
        "hotaru": [_scripted()],
        "pytorch": [
            (GOLDEN / name).read_bytes()
            for name in (
                "networks.pt",
                "networks_old.pt",
                "cases.pt",
                "frozen_conv.pt",
                "frozen_lstm.pt",
            )
        ],
        "state": [_state()],
        "npy": _arrays(),
    }


def mutant(kind: str, files: list[bytes], r: random.Random) -> bytes:
    """One of the files, damaged."""
    data = r.choice(files)
    if r.random() < 0.25:
        return _bytes_changed(data, files, r)
    if kind == "npy":
        return _npy_changed(data, r)
    return _zip_changed(data, files, r)


def _bytes_changed(data: bytes, files: list[bytes], r: random.Random) -> bytes:
    out = bytearray(data or b"\0")
    for _ in range(r.choice((1, 1, 2, 8))):
        at = r.randrange(len(out))
        what = r.randrange(6)
        if what == 0:
            out[at : at + 1] = bytes([r.randrange(256)])
        elif what == 1:
            out[at : at + 1] = bytes([out[at] ^ (1 << r.randrange(8))])
        elif what == 2:
            del out[at:]
        elif what == 3:
            del out[at : at + r.choice((1, 4, 64, 1000))]
        elif what == 4:
            size = r.choice((1, 2, 4, 8))
            value = r.choice(INTS) & ((1 << 8 * size) - 1)
            out[at : at + size] = value.to_bytes(size, "little")
        else:
            other = r.choice(files)
            start = r.randrange(len(other) + 1)
            out[at:at] = other[start : start + r.choice((1, 16, 400))]
        if not out:
            break
    return bytes(out)


def _values_changed(data: bytes, files: list[bytes], r: random.Random) -> bytes:
    """As many bytes, some of them others: booleans of 255, NaN, large ints."""
    out = bytearray(data)
    for _ in range(min(len(out), r.choice((1, 2, 8, 64)))):
        out[r.randrange(len(out))] = r.choice((0, 2, 0x7F, 0x80, 0xFF))
    return bytes(out)


def _zip_changed(data: bytes, files: list[bytes], r: random.Random) -> bytes:
    """Another content in one record or more of an archive whose frame is sound.

    Compressed records come out stored: checksums are right.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        records = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(r.choice((1, 1, 1, 2, 4))):
        pickles = [name for name in records if name.endswith(".pkl")]
        codes = [name for name in records if name.endswith(".py")]
        others = [name for name in records if "/data/" in name]
        names = r.choice([n for n in (pickles, pickles, codes, others) if n])
        name = r.choice(names)
        if r.random() < 0.05:
            records.pop(name)
            if not records:
                break
            continue
        if name.endswith(".pkl"):
            records[name] = _pickle_changed(records[name], r)
        elif name.endswith(".py"):
            records[name] = _source_changed(records[name], r)
        else:
            change = _values_changed if r.random() < 0.8 else _bytes_changed
            records[name] = change(records[name], files, r)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in records.items():
            # With a date of its own: a seed makes the same bytes every day.
            archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def _pickle_changed(data: bytes, r: random.Random) -> bytes:
    """Integers, names and references of a pickle replaced in their places."""
    try:
        ops = [(op, arg, at) for op, arg, at in pickletools.genops(data)]
    except Exception:
        return _bytes_changed(data, [data], r)
    ends = [at for _, _, at in ops[1:]] + [len(data)]
    wanted = r.choice(("INT", "INT", "INT", "UNICODE", "BINGET", "any"))
    picks = [
        i
        for i, (op, _, _) in enumerate(ops)
        if wanted == "any"
        or wanted in op.name
        or (wanted == "INT" and op.name in ("LONG1", "NEWTRUE", "NEWFALSE"))
    ]
    if not picks:
        return _bytes_changed(data, [data], r)
    i = r.choice(picks)
    _, arg, at = ops[i]
    if wanted == "INT":
        near = [arg - 1, arg + 1, -arg, arg * 2] if type(arg) is int else []
        new = _integer(r.choice([*INTS, *near]))
    elif wanted == "UNICODE":
        texts = [a for o, a, _ in ops if "UNICODE" in o.name]
        text = r.choice([*texts, "", "BoolStorage", "DoubleStorage", "é" * 9])
        raw = text.encode()
        new = b"X" + len(raw).to_bytes(4, "little") + raw
    elif wanted == "BINGET":
        new = b"h" + bytes([r.randrange(64)])
    else:
        # Another operation of the file, or none.
        other = r.randrange(len(ops))
        new = data[ops[other][2] : ends[other]] if r.random() < 0.7 else b""
    return data[:at] + new + data[ends[i] :]


def _integer(value: int) -> bytes:
    if 0 <= value < 256:
        return b"K" + bytes([value])
    if -(2**31) <= value < 2**31:
        return b"J" + value.to_bytes(4, "little", signed=True)
    raw = value.to_bytes(9, "little", signed=True)
    return b"\x8a\x09" + raw


def _source_changed(data: bytes, r: random.Random) -> bytes:
    text = data.decode(errors="replace")
    what = r.randrange(7)
    returns = list(re.finditer(r"return (\w+)$", text, re.MULTILINE))
    if what > 3 and returns:
        found = r.choice(returns)
        call = re.sub(r"\bI\b", lambda _: str(r.choice(INTS)), r.choice(_RISKY))
        call = re.sub(r"\bT\b", found.group(1), call)
        text = text[: found.start(1)] + call + text[found.end(1) :]
    elif what < 2:
        numbers = list(re.finditer(r"\b\d+\b", text))
        if numbers:
            found = r.choice(numbers)
            text = text[: found.start()] + str(r.choice(INTS)) + (text[found.end() :])
    elif what == 2:
        lines = text.split("\n")
        lines.insert(r.randrange(len(lines)), r.choice(lines))
        text = "\n".join(lines)
    else:
        names = list(re.finditer(r"\b[a-zA-Z_]\w*\b", text))
        if len(names) > 1:
            found, other = r.sample(names, 2)
            text = text[: found.start()] + other.group() + text[found.end() :]
    return text.encode()


def _npy_changed(data: bytes, r: random.Random) -> bytes:
    """Another header of about the same form."""
    length = int.from_bytes(data[8:10], "little")
    header, body = data[10 : 10 + length].decode(), data[10 + length :]
    what = r.randrange(4)
    if what == 0:
        numbers = list(re.finditer(r"\d+", header))
        if numbers:
            found = r.choice(numbers)
            header = (
                header[: found.start()] + str(r.choice(INTS)) + (header[found.end() :])
            )
    elif what == 1:
        kind = r.choice((">f8", "<c16", "|b1", "<U4", "|O", "<i8", "<f2", "x"))
        header = re.sub(r"'[<>|=][^']*'", f"'{kind}'", header, count=1)
    elif what == 2:
        shapes = (
            "(2,)",
            "(0, 4611686018427387904)",
            "(-1,)",
            "()",
            "(3, 3,)",
            "(4294967296, 4294967296)",
            "(1,) * 9",
            "12",
        )
        header = re.sub(r"\([^)]*\)", r.choice(shapes), header, count=1)
    else:
        body = body[: r.randrange(len(body) + 1)]
    raw = header.encode()
    size = len(raw) if r.random() < 0.9 else r.randrange(65536)
    return data[:8] + size.to_bytes(2, "little") + raw + body
