"""The statements of an article on choosing GPU or CPU (nkmk.me, for 1.7.1)
with what it says they print, where current PyTorch says the same.
"""

from __future__ import annotations

import pytest

import hotaru as torch


@pytest.mark.parametrize(
    "options", [{}, {"device": torch.device("cpu")}, {"device": "cpu"}]
)
def test_tensors_made_on_the_cpu(options):
    made = torch.tensor([0.1, 0.2], **options)
    assert str(made) == "tensor([0.1000, 0.2000])"


@pytest.mark.parametrize(
    "device",
    [
        torch.device("cuda:0"),
        torch.device("cuda"),
        torch.device(0),
        "cuda:0",
        "cuda",
        0,
    ],
    ids=repr,
)
def test_tensors_made_on_a_gpu(device):
    made = torch.tensor([0.1, 0.2], device=device)
    assert str(made) == "tensor([0.1000, 0.2000], device='cuda:0')"
    assert str(torch.ones(2, device=device)) == ("tensor([1., 1.], device='cuda:0')")
    assert str(torch.zeros(2, device=device)) == ("tensor([0., 0.], device='cuda:0')")


@pytest.fixture
def t_cpu():
    return torch.tensor([0.1, 0.2])


@pytest.fixture
def t_gpu():
    return torch.tensor([0.1, 0.2], device="cuda")


def test_where_tensors_are(t_cpu, t_gpu):
    assert str(t_cpu.device) == "cpu"
    assert str(type(t_cpu.device)) == f"<class '{torch.__name__}.device'>"
    assert str(t_gpu.device) == "cuda:0"
    assert str(type(t_gpu.device)) == f"<class '{torch.__name__}.device'>"
    assert t_cpu.is_cuda is False
    assert t_gpu.is_cuda is True


def test_to(t_cpu):
    t_gpu = t_cpu.to("cuda")
    assert str(t_gpu.device) == "cuda:0"
    double = "tensor([0.1000, 0.2000], device='cuda:0', dtype=torch.float64)"
    assert str(t_cpu.to("cuda", torch.float64)) == double
    with pytest.raises(TypeError) as caught:
        t_cpu.to(torch.float64, "cuda")
    assert str(caught.value).startswith(
        "to() received an invalid combination of arguments - got "
        "(torch.dtype, str), but expected one of:"
    )
    assert str(t_cpu.to(dtype=torch.float64, device="cuda")) == double


def test_cuda_and_cpu(t_cpu, t_gpu):
    assert str(t_cpu.cuda().device) == "cuda:0"
    assert str(t_cpu.cuda(0).device) == "cuda:0"
    assert str(t_cpu.cuda("cuda:0").device) == "cuda:0"
    with pytest.raises(RuntimeError, match="Invalid device, must be cuda device"):
        t_cpu.cuda("cpu").device  # noqa: B018
    assert str(t_gpu.cpu().device) == "cpu"


def test_an_index_that_is_not_there(t_cpu):
    missing = torch.cuda.device_count()
    with pytest.raises(RuntimeError, match="CUDA error: invalid device ordinal"):
        t_cpu.cuda(missing).device  # noqa: B018


def test_tensors_that_are_there_already(t_cpu, t_gpu):
    t_cpu2 = t_cpu.to("cpu")
    assert t_cpu is t_cpu2
    t_gpu2 = t_gpu.cuda()
    assert t_gpu is t_gpu2


def test_the_device_that_there_is():
    device = (
        torch.device("cuda:0") if torch.cuda.is_available() else torch.device("cpu")
    )
    assert str(device) == "cuda:0"
    t = torch.tensor([0.1, 0.2], device=device)
    assert str(t.device) == "cuda:0"


@pytest.fixture
def net():
    torch.manual_seed(0)
    return torch.nn.Linear(2, 2)


def test_modules_move_in_place(net):
    assert isinstance(net, torch.nn.Module)
    assert str(net.weight.device) == "cpu"
    net.to("cuda")
    assert str(net.weight.device) == "cuda:0"
    net.cpu()
    assert str(net.weight.device) == "cpu"
    net.cuda()
    assert str(net.weight.device) == "cuda:0"


# 1.7.1 called the layer's node AddBackward0, today it is AddmmBackward0, and
# of one dimension ViewBackward0.
RESULT = "tensor([-0.1970,  0.0273], device='cuda:0', grad_fn=<"


def test_modules_compute_where_they_are(net, t_gpu):
    net.cuda()
    assert str(net(t_gpu)).startswith(RESULT)


def test_modules_refuse_tensors_of_another_device(net, t_cpu):
    net.cuda()
    with pytest.raises(
        RuntimeError, match="Expected all tensors to be on the same device"
    ):
        net(t_cpu)


def test_the_whole_program(net, t_gpu):
    device = (
        torch.device("cuda:0") if torch.cuda.is_available() else torch.device("cpu")
    )
    torch.tensor([0.1, 0.2], device=device)
    torch.manual_seed(0)
    net = torch.nn.Linear(2, 2)
    net.to(device)
    assert str(net(t_gpu)).startswith(RESULT)
