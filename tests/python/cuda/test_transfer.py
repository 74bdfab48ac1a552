"""Tensors, modules and states of optimizers between the CPU and devices."""

from __future__ import annotations

import copy
import pickle

import pytest

import hotaru as torch

DTYPES = [
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int8,
    torch.uint8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.bool,
    torch.complex64,
    torch.complex128,
]
GPU = torch.device("cuda:0")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_values_go_there_and_back(dtype):
    x = torch.arange(24).reshape(2, 3, 4).to(dtype)
    for there in (x.cuda(), x.to("cuda"), x.to(0), x.to(GPU)):
        assert there.device == GPU
        assert there.is_cuda
        assert there.get_device() == 0
        assert there.dtype == dtype
        assert there.cpu().equal(x)
        assert there.to("cpu").equal(x)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.t(),
        lambda x: x[::2, 1::3],
        lambda x: x[:, 0],
        lambda x: x[:0],
        lambda x: x[2, 3],
        lambda x: x.unsqueeze(0).expand(3, 6, 8),
    ],
    ids=["transposed", "strided", "column", "empty", "number", "expanded"],
)
def test_views_go_there_and_back(view):
    x = torch.arange(48.0).reshape(6, 8)
    assert view(x).cuda().cpu().equal(view(x))
    assert view(x.cuda()).cpu().equal(view(x))
    assert view(x).cuda().shape == view(x).shape


def test_moving_to_where_a_tensor_is_returns_it():
    x = torch.ones(2, device="cuda")
    assert x.cuda() is x
    assert x.cuda(0) is x
    assert x.to("cuda") is x
    assert x.to("cuda:0") is x
    assert x.to(torch.float32) is x
    assert x.to("cuda", copy=True) is not x
    on_cpu = torch.ones(2)
    assert on_cpu.cpu() is on_cpu


def test_device_and_dtype_in_one_call():
    x = torch.tensor([1.5, 2.5])
    moved = x.to("cuda", torch.float64)
    assert (moved.device, moved.dtype) == (GPU, torch.float64)
    like = x.to(torch.ones(1, device="cuda", dtype=torch.int32))
    assert (like.device, like.tolist()) == (GPU, [1, 2])
    assert x.type_as(moved).device == GPU


def test_copies_in_place_convert_between_devices():
    x = torch.zeros(2, 3, device="cuda")
    x.copy_(torch.arange(6).reshape(2, 3))
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    y = torch.zeros(3, 2, dtype=torch.float64)
    y.t().copy_(x)
    assert y.tolist() == [[0, 3], [1, 4], [2, 5]]
    x[0].copy_(torch.tensor(7.0))
    assert x[0].tolist() == [7, 7, 7]


def test_memory_formats_survive_the_way():
    x = torch.arange(120.0).reshape(2, 3, 4, 5)
    there = x.cuda(memory_format=torch.channels_last)
    assert there.is_contiguous(memory_format=torch.channels_last)
    assert there.cpu().equal(x)


def test_gradients_flow_between_devices():
    x = torch.ones(3, requires_grad=True)
    (x.cuda() * 2).sum().backward()
    assert x.grad.device == torch.device("cpu")
    assert x.grad.tolist() == [2, 2, 2]
    leaf = torch.ones(3, device="cuda", requires_grad=True)
    (leaf.cpu() * 3).sum().backward()
    assert leaf.grad.device == GPU
    assert leaf.grad.tolist() == [3, 3, 3]


def test_pinned_memory():
    x = torch.arange(10.0)
    assert not x.is_pinned()
    pinned = x.pin_memory()
    assert pinned.is_pinned()
    assert pinned.device == torch.device("cpu")
    assert pinned.equal(x)
    assert pinned.pin_memory() is pinned
    assert pinned[3:].is_pinned()
    assert not torch.ones(2, device="cuda").is_pinned()
    with pytest.raises(
        RuntimeError,
        match=r"cannot pin 'torch\.cuda\.FloatTensor' only dense CPU tensors",
    ):
        torch.ones(2, device="cuda").pin_memory()


def test_copies_that_nobody_waits_for():
    x = torch.arange(100_000.0).pin_memory()
    there = x.cuda(non_blocking=True)
    back = there.to("cpu", non_blocking=True)
    torch.cuda.synchronize()
    assert back.equal(torch.arange(100_000.0))
    x.to("cuda", non_blocking=True)
    x.zero_()  # waits for the copy, as any use of the tensor does
    assert there.sum().item() == torch.arange(100_000.0).sum().item()


def test_copies_between_streams_wait_for_each_other():
    side = torch.cuda.Stream()
    x = torch.full((100_000,), 1.0).pin_memory()
    with torch.cuda.stream(side):
        there = x.cuda(non_blocking=True)
    assert (there + 1).sum().item() == 200_000


def test_loader_pins_batches():
    loader = torch.utils.data.DataLoader(
        [(torch.ones(2), n) for n in range(4)], batch_size=2, pin_memory=True
    )
    for values, numbers in loader:
        assert values.is_pinned()
        assert numbers.is_pinned()


@pytest.mark.parametrize("device", [1, "cuda:1", torch.device("cuda", 1)])
def test_copies_between_devices(two_devices, device):
    x = torch.arange(6.0, device="cuda:0").reshape(2, 3)
    y = x.to(device)
    assert y.device == torch.device("cuda:1")
    assert y.get_device() == 1
    assert y.cpu().equal(x.cpu())
    assert x.cuda(1).t().to("cuda:0").cpu().equal(x.cpu().t())
    assert x.to(1, torch.int64).tolist() == [[0, 1, 2], [3, 4, 5]]
    z = torch.zeros(3, 2, device="cuda:0")
    z.t().copy_(y * 2)
    assert z.tolist() == [[0, 6], [2, 8], [4, 10]]
    with pytest.raises(RuntimeError, match="two devices, cuda:0 and cuda:1!"):
        x + y


def test_devices_without_an_index_are_the_current_one(two_devices):
    with torch.cuda.device(1):
        assert torch.ones(2).cuda().get_device() == 1
        assert torch.ones(2).to("cuda").get_device() == 1
        # It is on a GPU already.
        assert torch.ones(2, device="cuda:0").to("cuda").get_device() == 1


def test_modules_move_in_place():
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    weight = net[0].weight
    values = weight.detach().clone()
    assert net.to("cuda") is net
    assert net[0].weight is weight
    assert {t.device for t in (*net.parameters(), *net.buffers())} == {GPU}
    assert weight.is_leaf
    assert weight.requires_grad
    assert net.state_dict()["0.weight"].device == GPU
    assert net.cpu() is net
    assert weight.device == torch.device("cpu")
    assert weight.detach().equal(values)
    net.cuda(0).double()
    assert (weight.device, weight.dtype) == (GPU, torch.float64)
    assert net[1].num_batches_tracked.dtype == torch.int64
    net.load_state_dict(
        torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3)).state_dict()
    )
    assert weight.device == GPU
    made = torch.nn.Linear(2, 2, device="cpu").to(device="cuda:0")
    assert made.bias.device == GPU


def test_states_of_optimizers_follow_their_parameters():
    on_cpu = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(on_cpu.parameters(), 0.1, momentum=0.9)
    on_cpu(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    state = optimizer.state_dict()
    on_gpu = torch.nn.Linear(2, 2).cuda()
    loaded = torch.optim.SGD(on_gpu.parameters(), 0.1, momentum=0.9)
    loaded.load_state_dict(state)
    for parameter in on_gpu.parameters():
        assert loaded.state[parameter]["momentum_buffer"].device == GPU
    back = loaded.state_dict()["state"][0]["momentum_buffer"]
    assert back.cpu().equal(state["state"][0]["momentum_buffer"])


def test_copies_and_pickles_stay_on_their_device():
    x = torch.arange(4.0, device="cuda", requires_grad=True)
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert y.device == GPU
        assert y.requires_grad
        assert y.tolist() == [0, 1, 2, 3]
    net = copy.deepcopy(torch.nn.Linear(2, 2).cuda())
    assert net.weight.device == GPU


def test_texts_name_the_device():
    x = torch.tensor([0.1, 0.2], device="cuda")
    assert repr(x) == "tensor([0.1000, 0.2000], device='cuda:0')"
    assert repr(x.double()) == (
        "tensor([0.1000, 0.2000], device='cuda:0', dtype=torch.float64)"
    )
    assert x.type() == "torch.cuda.FloatTensor"
    with pytest.raises(TypeError, match="cuda:0 device type tensor to numpy"):
        x.numpy()
    with pytest.raises(RuntimeError, match="Invalid device, must be cuda device"):
        x.cuda("cpu")
