"""`fp32_precision`: which setting holds, beside the older flags. Rows are those
of PyTorch 2.13, but for `mkldnn.fp32_precision`, which is all libraries' there.
"""

from __future__ import annotations

import pytest
from hotaru.backends import _precision

import hotaru as torch
from hotaru import backends


@pytest.fixture(autouse=True)
def restored():
    before = _precision.saved()
    yield
    _precision.restore(before)


def _set(name: str, value) -> None:
    if name == "word":
        torch.set_float32_matmul_precision(value)
        return
    *above, last = name.split(".")
    owner = backends
    for part in above:
        owner = getattr(owner, part)
    setattr(owner, last, value)


def _get(read) -> str:
    try:
        return str(read())
    except RuntimeError as error:
        return "!" if "mix of the legacy and new" in str(error) else str(error)


def _all() -> str:
    """Precisions of all libraries, cuDNN's, its convolutions', recurrent
    layers', products', the CPU's, its products' and convolutions'; then the
    older flags of cuDNN, of products, and their word.
    """
    b = backends
    return " ".join(
        _get(read)
        for read in (
            lambda: b.fp32_precision,
            lambda: b.cudnn.fp32_precision,
            lambda: b.cudnn.conv.fp32_precision,
            lambda: b.cudnn.rnn.fp32_precision,
            lambda: b.cuda.matmul.fp32_precision,
            lambda: b.mkldnn.fp32_precision,
            lambda: b.mkldnn.matmul.fp32_precision,
            lambda: b.mkldnn.conv.fp32_precision,
            lambda: b.cudnn.allow_tf32,
            lambda: b.cuda.matmul.allow_tf32,
            torch.get_float32_matmul_precision,
        )
    )


AT_FIRST = "none none tf32 tf32 none none none none True False highest"
ALL, CUDNN, MKLDNN = "fp32_precision", "cudnn.fp32_precision", "mkldnn."
MATMUL = "cuda.matmul."
CONV = "cudnn.conv.fp32_precision"
ROWS = [
    ([], AT_FIRST),
    ([(ALL, "ieee")], "ieee ieee ieee ieee ieee ieee ieee ieee ! False highest"),
    ([(ALL, "tf32")], "tf32 tf32 tf32 tf32 tf32 tf32 tf32 tf32 True ! !"),
    ([(ALL, "bf16")], "bf16 none none none none bf16 bf16 bf16 ! False !"),
    ([(ALL, "tf32"), (ALL, "none")], AT_FIRST),
    ([(CUDNN, "ieee")], "none ieee ieee ieee ieee none none none ! False highest"),
    ([(CUDNN, "tf32")], "none tf32 tf32 tf32 tf32 none none none True ! !"),
    ([(CUDNN, "none")], AT_FIRST),
    ([(CONV, "ieee")], "none none ieee tf32 none none none none ! False highest"),
    ([(CONV, "none")], "none none none tf32 none none none none ! False highest"),
    (
        [(CONV, "none"), (ALL, "ieee"), (CUDNN, "tf32")],
        "ieee tf32 tf32 tf32 tf32 ieee ieee ieee True ! !",
    ),
    ([(MATMUL + ALL, "tf32")], "none none tf32 tf32 tf32 none none none True ! !"),
    (
        [(MATMUL + ALL, "ieee"), (ALL, "tf32")],
        "tf32 tf32 tf32 tf32 ieee tf32 tf32 tf32 True False !",
    ),
    ([(MKLDNN + ALL, "bf16")], "none none tf32 tf32 none bf16 bf16 bf16 True False !"),
    (
        [(MKLDNN + "conv." + ALL, "tf32")],
        "none none tf32 tf32 none none none tf32 True False highest",
    ),
    (
        [("cudnn.allow_tf32", False)],
        "none none none none none none none none False False highest",
    ),
    (
        [("cudnn.allow_tf32", False), (ALL, "tf32")],
        "tf32 tf32 tf32 tf32 tf32 tf32 tf32 tf32 ! ! !",
    ),
    (
        [(ALL, "ieee"), ("cudnn.allow_tf32", True)],
        "ieee ieee tf32 tf32 ieee ieee ieee ieee True False highest",
    ),
    (
        [(MATMUL + "allow_tf32", True), (ALL, "ieee")],
        "ieee ieee ieee ieee tf32 ieee ieee ieee ! True high",
    ),
    (
        [(MATMUL + "allow_tf32", True), (MATMUL + ALL, "ieee")],
        "none none tf32 tf32 ieee none none none True ! high",
    ),
    ([("word", "high")], "none none tf32 tf32 tf32 none tf32 none True True high"),
    ([("word", "medium")], "none none tf32 tf32 tf32 none bf16 none True True medium"),
    (
        [("word", "medium"), (MATMUL + "allow_tf32", False)],
        "none none tf32 tf32 ieee none bf16 none True False !",
    ),
    (
        [("word", "high"), (MKLDNN + "matmul." + ALL, "none")],
        "none none tf32 tf32 tf32 none none none True True high",
    ),
]


@pytest.mark.parametrize(("steps", "row"), ROWS, ids=[str(i) for i in range(len(ROWS))])
def test_which_setting_holds(steps, row):
    for name, value in steps:
        _set(name, value)
    assert _all() == row


def test_blocks_set_it_for_a_while():
    with backends.flags(fp32_precision="tf32"):
        assert backends.mkldnn.conv.fp32_precision == "tf32"
    assert backends.set_flags("ieee") == ("none",)
    assert backends.set_flags("none") == ("ieee",)
    with backends.cudnn.flags(enabled=True, fp32_precision="ieee"):
        assert backends.cuda.matmul.fp32_precision == "ieee"
        assert backends.cudnn.conv.fp32_precision == "tf32"
    with backends.cudnn.flags(enabled=True, allow_tf32=False):
        assert backends.cudnn.conv.fp32_precision == "none"
    assert _all() == AT_FIRST


def test_what_is_refused():
    for name, value, text in (
        (ALL, "x", "Unknown precision: x"),
        (CONV, "x", "Unknown precision: x"),
        (CUDNN, "bf16", "backend 'cuda' does not support precision 'bf16'"),
        (MATMUL + ALL, "bf16", "does not support precision"),
        (CONV, "bf16", "does not support precision"),
    ):
        with pytest.raises(RuntimeError, match=text):
            _set(name, value)
    with pytest.raises(AttributeError, match="Unknown attribute"):
        backends.cudnn.conv.other = 1
    assert _all() == AT_FIRST


def test_kernels_are_told(monkeypatch):
    told = {}
    monkeypatch.setattr(
        torch._C, "_set_allows_tf32", lambda kind, on: told.update({kind: on})
    )
    monkeypatch.setattr(
        torch._C, "_set_allows_bf16", lambda kind, on: told.update({kind: on})
    )
    nothing = {"matmul": False, "conv": True, 0: False, 1: False, 2: False}
    for name, value, changed in (
        (CONV, "none", {"conv": False}),
        (CONV, "tf32", {"conv": True}),
        (CUDNN, "ieee", {}),
        (MATMUL + ALL, "tf32", {"matmul": True}),
        (ALL, "bf16", {0: True, 1: True, 2: True}),
        (MKLDNN + "conv." + ALL, "ieee", {1: False}),
    ):
        _set(name, value)
        nothing.update(changed)
        assert told == nothing, name
