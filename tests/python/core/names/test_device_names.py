"""Device types that hotaru has by name only."""

import pickle

import numpy as np
import pytest

import hotaru as torch

NAMES = [
    "ipu",
    "xpu",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "ve",
    "fpga",
    "maia",
    "xla",
    "lazy",
    "vulkan",
    "mps",
    "hpu",
    "mtia",
    "privateuseone",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_a_device(name):
    device = torch.device(name)
    assert device.type == name
    assert device.index is None
    assert repr(device) == f"device(type='{name}')"
    assert torch.device(name, 1) == torch.device(f"{name}:1") != device
    assert pickle.loads(pickle.dumps(device)) == device
    assert device not in {torch.device("cpu"), torch.device("cuda")}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "make",
    [
        lambda d: torch.ones(2, device=d),
        lambda d: torch.ones(2).to(d),
        lambda d: torch.tensor([1.0], device=d),
        lambda d: torch.empty_strided((2,), (1,), device=d),
        lambda d: torch.Generator(device=d),
        lambda d: torch.Stream(device=d),
        lambda d: torch.nn.Linear(2, 2).to(d),
        lambda d: torch.ones(2).new_zeros(2, device=d),
        lambda d: torch.UntypedStorage(8, device=d),
    ],
)
def test_nothing_lies_there(name, make):
    with pytest.raises((RuntimeError, AssertionError)) as raised:
        make(name)
    assert name in str(raised.value).lower()


def test_asking_is_harmless():
    assert not torch.backends.mps.is_available()
    for name in NAMES:
        with torch.device(name):
            assert torch.ones(2, device="cpu").device.type == "cpu"
    assert torch.ones(2).device.type == "cpu"


def test_names_may_be_bytes():
    assert torch.device(b"cpu") == torch.device("cpu")
    assert torch.device(b"cuda", 1) == torch.device(b"cuda:1")
    assert torch.device(b"cuda", 1).index == 1
    assert torch.ones(2, device=b"cpu").tolist() == [1, 1]
    assert torch.ones(2).to(b"meta").is_meta
    assert torch.tensor(1, device=b"meta").is_meta
    with pytest.raises(RuntimeError, match="at start of device string: foo"):
        torch.device(b"foo")


def test_what_an_index_may_be():
    three = torch.device("cuda:3")
    for index in (3, np.int64(3), np.uint8(3), torch.tensor(3)):
        assert torch.device("cuda", index) == three
        assert torch.device(type="cuda", index=index) == three
    assert torch.device("cuda", None).index is None
    assert torch.device(device=three) == torch.device(device="cuda:3") == three
    assert torch.device(three, None) == torch.device(3) == three


COMBINATION = (
    "device() received an invalid combination of arguments - got ({}), but "
    "expected one of:"
)
INDEX = "device(): argument 'index' (position 2) must be int, not {}"
TYPE = "device(): argument 'type' (position 1) must be str, not {}"


@pytest.mark.parametrize(
    ("arguments", "keywords", "text"),
    [
        (("cpu", "0"), {}, INDEX.format("str")),
        (("cpu", 1.5), {}, INDEX.format("float")),
        (("cpu", True), {}, INDEX.format("bool")),
        (("cpu", np.array(0)), {}, INDEX.format("numpy.ndarray")),
        (("cpu",), {"index": b"0"}, INDEX.format("bytes")),
        ((torch.device("cpu"), 0), {}, TYPE.format("torch.device")),
        ((1.5, 0), {}, TYPE.format("float")),
        ((None,), {"index": 0}, TYPE.format("NoneType")),
        ((), {}, COMBINATION.format("")),
        ((None,), {}, COMBINATION.format("NoneType")),
        ((1.5,), {}, COMBINATION.format("float")),
        ((True,), {}, COMBINATION.format("bool")),
        (([],), {}, COMBINATION.format("list")),
        (("cpu", 1, 2), {}, COMBINATION.format("str, int, int")),
        ((), {"index": 1}, COMBINATION.format("index=int, ")),
        ((), {"device": 3.5}, COMBINATION.format("device=float, ")),
        (("cpu",), {"foo": 1}, "device() got an unexpected keyword argument 'foo'"),
        (("cpu",), {"type": "cpu"}, "device() got multiple values for argument 'type'"),
    ],
)
def test_what_is_no_device(arguments, keywords, text):
    with pytest.raises(TypeError) as raised:
        torch.device(*arguments, **keywords)
    assert str(raised.value).partition("\n")[0] == text
