"""Device types that hotaru has by name only."""

import pickle

import pytest

import hotaru as torch

NAMES = [
    "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga",
    "maia", "xla", "lazy", "vulkan", "mps", "hpu", "mtia", "privateuseone",
]  # fmt: skip


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
