"""Archives of quantised modules that PyTorch 1.13 and 2.13 wrote."""

import copy
import functools
import io
import tarfile
from pathlib import Path

import pytest

import hotaru

WHERE = Path(__file__).parent.parent / "golden" / "quantized_archives.tar.xz"


@functools.cache
def contents() -> dict:
    with tarfile.open(WHERE) as archive:
        return {
            member.name: archive.extractfile(member).read()
            for member in archive.getmembers()
        }


def names() -> list:
    with tarfile.open(WHERE) as archive:
        found = archive.getnames()
    return sorted(n.removesuffix(".pt") for n in found if n.endswith(".pt"))


NAMES = names()


def loaded(name: str):
    return hotaru.jit.load(io.BytesIO(contents()[f"{name}.pt"]))


def given(name: str):
    return hotaru.load(io.BytesIO(contents()[f"{name}.io"]), weights_only=False)


def tensors(value) -> list:
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors(item)]
    return [value]


def number(x):
    return x.dequantize() if x.is_quantized else x


def saved(module):
    file = io.BytesIO()
    hotaru.jit.save(module, file)
    file.seek(0)
    return file


def same(found, expected, tolerance: float = 0) -> None:
    found, expected = tensors(found), tensors(expected)
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        hotaru.testing.assert_close(
            number(a), number(b), rtol=tolerance, atol=tolerance
        )


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_those_of_pytorch(name):
    inputs, expected = given(name)
    module = loaded(name)
    found = module(*inputs)
    same(found, expected, 1e-5)
    again = hotaru.jit.load(saved(module))
    same(again(*inputs), found)


def test_every_kind_is_there():
    assert len(NAMES) > 300
    assert {name.partition("/")[0] for name in NAMES} == {"113", "213"}


# -- what programs do with such a module ---------------------------------------

STATIC, DYNAMIC = "213/graph_static_script", "213/dynamic_linear_int8_script"


@pytest.mark.parametrize("name", [STATIC, DYNAMIC, "213/tensors_script"])
def test_copies_freezing_and_modes(name):
    (x, *_), _expected = given(name)
    module = loaded(name)
    found = module(x)
    for other in (
        module.eval(),
        hotaru.jit.freeze(module),
        hotaru.jit.optimize_for_inference(module),
        copy.deepcopy(module),
        hotaru.jit.load(saved(hotaru.jit.freeze(module))),
    ):
        same(other(x), found)
    assert isinstance(module, hotaru.jit.ScriptModule)
    assert not list(hotaru.jit.freeze(module).parameters())


def test_modules_have_parts_state_and_text():
    module = loaded("213/tensors_script")
    assert list(module.state_dict()) == ["weight", "table"]
    assert module.table.is_quantized
    assert isinstance(module.weight, hotaru.nn.Parameter)
    assert "torch.quantize_per_tensor" in module.code
    x = hotaru.ones(3, 4)
    module(x)[2].sum().backward()
    assert hotaru.equal(module.weight.grad, hotaru.full((4,), 3.0))
    with hotaru.no_grad():
        module.weight.zero_()
    same(hotaru.jit.load(saved(module))(x), module(x))
    dynamic = loaded(DYNAMIC)
    assert [type(m).__name__ for m in dynamic.modules()] == [
        "RecursiveScriptModule"
    ] * len(list(dynamic.modules()))
    assert "linear_dynamic" in getattr(dynamic, "0").code
    assert getattr(dynamic, "0").in_features == 4


def test_such_a_module_is_part_of_others():
    (x,), _expected = given(DYNAMIC)

    class Whole(hotaru.nn.Module):
        def __init__(self):
            super().__init__()
            self.part = loaded(DYNAMIC)

        def forward(self, x):
            return self.part(x) * 2

    same(Whole()(x), loaded(DYNAMIC)(x) * 2)


# -- files that try something --------------------------------------------------


def changed(name: str, old: bytes, new: bytes) -> io.BytesIO:
    """The archive with other text in its code or pickles."""
    import zipfile

    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(contents()[f"{name}.pt"])) as given,
        zipfile.ZipFile(out, "w") as made,
    ):
        for info in given.infolist():
            made.writestr(info.filename, given.read(info).replace(old, new))
    out.seek(0)
    return out


@pytest.mark.parametrize(
    "text",
    [
        b"(().__class__.__mro__)[1]",
        b"input.__class__",
        b'__import__("os")',
        b"(lambda: 1)()",
        b"__get.__globals__",
        b'getattr(input, "__class__")',
        b"torch.__dict__",
        b'open("/etc/passwd")',
        b'f"{input.__class__}"',
        b"[c for c in input.__class__]",
    ],
)
def test_text_reaches_nothing_of_python(text):
    file = changed(DYNAMIC, b"torch.relu(input)", text)
    with pytest.raises((RuntimeError, NotImplementedError, NameError)):
        hotaru.jit.load(file)(hotaru.ones(1, 4))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"ctorch._utils\n_rebuild_qtensor", b"cos\nsystem"),
        (b"ctorch._utils\n_rebuild_qtensor", b"cbuiltins\neval"),
        (b"QInt8Storage", b"NoSuchStorage"),
    ],
)
def test_pickles_call_nothing_else(old, new):
    file = changed(DYNAMIC, old, new)
    with pytest.raises(RuntimeError, match="pickle"):
        hotaru.jit.load(file)


def test_damaged_archives_are_errors():
    whole = contents()[f"{STATIC}.pt"]
    for end in range(0, len(whole), max(1, len(whole) // 60)):
        damaged = bytearray(whole)
        damaged[end] ^= 0x5A
        try:
            module = hotaru.jit.load(io.BytesIO(bytes(damaged)))
            module(*given(STATIC)[0])
        except (RuntimeError, ValueError, NotImplementedError, TypeError):
            continue
