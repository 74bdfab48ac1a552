"""Fake tensors: shapes, strides, dtypes and devices without memory."""

import copy

import pytest
from hotaru._guards import detect_fake_mode
from hotaru._subclasses import fake_utils
from hotaru._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeCopyMode,
    FakeTensor,
    FakeTensorMode,
    MetadataMismatchError,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
    is_fake,
)
from hotaru.fx.passes.fake_tensor_prop import FakeTensorProp

import hotaru as torch
from hotaru import library, nn

F = nn.functional

FUNCTIONS = {
    "broadcast": lambda x: x + torch.ones(3, 1, 4),
    "promotion": lambda x: x * torch.arange(4),
    "transposed": lambda x: x.t().contiguous().t(),
    "views": lambda x: x[1:, ::2].unsqueeze(0).expand(2, 2, 2),
    "index": lambda x: x[[0, 2]][:, torch.tensor([1, 1])],
    "reduce": lambda x: x.var(1) + x.amax(1),
    "sort": lambda x: torch.sort(x, 0),
    "split": lambda x: x.split(2, 1),
    "in_place": lambda x: x.clone().mul_(2).unsqueeze_(0),
    "conv": lambda x: F.conv2d(
        x.view(1, 1, 3, 4).to(memory_format=torch.channels_last), torch.ones(2, 1, 2, 2)
    ),
    "linear": lambda x: F.linear(x, torch.ones(5, 4)),
    "svd": lambda x: torch.linalg.svd(x),
    "to": lambda x: x.to(torch.float16),
    "scalars": lambda x: torch.div(3, 2) + x,
    "grid": lambda x: torch.tril_indices(3, 4),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_look_like_real_ones(name):
    function = FUNCTIONS[name]
    real = function(torch.ones(3, 4))
    with FakeTensorMode():
        fake = function(torch.ones(3, 4))
    real, fake = map(torch.utils._pytree.tree_leaves, (real, fake))
    assert len(real) == len(fake)
    for a, b in zip(real, fake):
        assert type(b) is FakeTensor
        assert a.shape == b.shape
        assert a.stride() == b.stride()
        assert (a.dtype, a.device) == (b.dtype, b.device)


def test_devices_that_are_not_there():
    with FakeTensorMode():
        x = torch.empty(2, 3, device="cuda")
        assert str(x.device) == "cuda:0"
        assert x.is_cuda
        assert repr(x) == "FakeTensor(..., device='cuda:0', size=(2, 3))"
        assert (x * torch.ones(())).is_cuda
        assert torch.ones(2).cuda().is_cuda
        assert x.cpu().device.type == "cpu"
        assert torch.zeros_like(x).is_cuda
        assert torch.tensor([1.0], device="cuda").is_cuda
        model = nn.Linear(3, 4, device="cuda")
        loss = model(x).sum()
        loss.backward()
        assert model.weight.grad.is_cuda
        with pytest.raises(RuntimeError, match="found two different devices"):
            x + torch.ones(2, 3)
        cpu = torch.ones(2, 3)
        assert cpu.copy_(x) is cpu
        assert cpu.device.type == "cpu"


def test_what_depends_on_values():
    with FakeTensorMode():
        x = torch.rand(4)
        with pytest.raises(DynamicOutputShapeException, match="nonzero"):
            x.nonzero()
        with pytest.raises(DynamicOutputShapeException):
            x[x > 0]
        with pytest.raises(DataDependentOutputException) as caught:
            float(x[0])
        assert caught.value.func is torch.ops.aten._local_scalar_dense.default
        with pytest.raises(DataDependentOutputException):
            x.new_full([2, torch.ones(2).sum()], 0.0)


def test_numbers_that_are_known():
    with FakeTensorMode():
        x = torch.tensor(4.0)
        y = x.add_(1)
        assert y is x
        assert x.item() == 5
        assert (x * 2).item() == 10
        z = torch.tensor([1.0])
        view = z[:]
        view.add_(torch.rand(1))
        assert z.constant is None
        assert view.constant is None
        grown = torch.tensor([1])
        grown.resize_([2])
        assert grown.constant is None


def test_real_tensors_are_converted_once():
    x = torch.rand(4, 4, requires_grad=True)
    x.grad = torch.rand(4, 4)
    mode = FakeTensorMode()
    fake = mode.from_tensor(x)
    assert mode.from_tensor(x) is fake
    assert fake.requires_grad
    assert type(fake.grad) is FakeTensor
    whole = torch.rand(3, 3)
    part = mode.from_tensor(whole[1])
    base = mode.from_tensor(whole)
    assert torch._C._shares_storage(part, base)
    assert isinstance(mode.from_tensor(nn.Parameter(whole)), nn.Parameter)
    assert len(mode.fake_tensor_converter.tensor_memo) == 2
    with pytest.raises(UnsupportedFakeTensorException, match="strided"):
        mode.from_tensor(torch.eye(2).to_sparse())
    back = fake_utils.try_convert_fake_to_real([base[1:]])[0]
    assert torch.equal(back, whole[1:])


def test_modes_and_real_tensors_do_not_mix():
    x = torch.ones(2)
    with FakeTensorMode() as mode:
        assert detect_fake_mode() is mode
        with pytest.raises(AssertionError, match="Please convert all Tensors"):
            x + 1
        mine = torch.ones(2)
        assert "FakeTensor" not in str(x)
    assert detect_fake_mode([mine]) is mode
    assert detect_fake_mode([x]) is None
    with FakeTensorMode(allow_non_fake_inputs=True) as other:
        assert is_fake(x + 1)
        with pytest.raises(AssertionError, match="Mixing fake modes"):
            mine + torch.ones(2)
    with pytest.raises(AssertionError, match="doesn't match"):
        detect_fake_mode([mine, other.from_tensor(x)])
    assert (mine + 1).fake_mode is mode


def test_derivatives():
    mode = FakeTensorMode()
    x = mode.from_tensor(torch.rand(3, 4, requires_grad=True))
    (first,) = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    first.sum().backward()
    assert type(x.grad) is FakeTensor
    assert x.grad.shape == (3, 4)
    with mode:
        model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Tanh())
        optimizer = torch.optim.Adam(model.parameters())
        model(torch.rand(5, 4)).sum().backward()
        optimizer.step()
        assert all(is_fake(p.grad) for p in model.parameters())


def test_copies_of_modules():
    module = nn.BatchNorm1d(3)
    module.again = module.running_mean
    with FakeCopyMode(FakeTensorMode()):
        twin = copy.deepcopy(module)
    assert isinstance(twin.weight, nn.Parameter)
    assert all(map(is_fake, twin.state_dict().values()))
    assert twin.again is twin.running_mean
    assert not is_fake(module.weight)


def test_operators_of_ones_own():
    with library._scoped_library("faked", "FRAGMENT") as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x.repeat(2), "CPU")
        f = torch.ops.faked.f
        with FakeTensorMode():
            x = torch.ones(3, device="cuda")
            with pytest.raises(UnsupportedOperatorException, match="faked"):
                f(x)
            library.register_fake(
                "faked::f", lambda x: x.new_empty(6, device=x.device), lib=lib
            )
            assert f(x).shape == (6,)
            assert f(x).is_cuda


def test_the_cache_gives_what_operators_give(monkeypatch):
    from hotaru._dynamo import config

    monkeypatch.setattr(config, "fake_tensor_cache_crosscheck_enabled", True)
    FakeTensorMode.cache_clear()
    with FakeTensorMode():
        x = torch.ones(3, 4)
        for _ in range(2):
            assert (x + 1).shape == (3, 4)
            assert x.t().stride() == (1, 4)
            assert torch._C._shares_storage(x.t(), x)
            assert x.mul_(2) is x
        assert (x.double() + 1).dtype is torch.float64
    info = FakeTensorMode.cache_info()
    assert info.hits >= 4
    assert info.misses >= 5
    monkeypatch.setattr(config, "fake_tensor_cache_enabled", False)
    FakeTensorMode.cache_clear()
    with FakeTensorMode():
        torch.ones(2) + 1
    assert FakeTensorMode.cache_info().misses == 0


def test_real_tensors_beside_fake_ones(monkeypatch):
    from hotaru._functorch import config

    monkeypatch.setattr(config, "fake_tensor_propagate_real_tensors", True)
    with library._scoped_library("wrong", "FRAGMENT") as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x.repeat(2), "CPU")
        library.register_fake("wrong::f", lambda x: x.clone(), lib=lib)
        with FakeTensorMode():
            x = torch.ones(3) + 1
            assert x.real_tensor.tolist() == [2, 2, 2]
            with pytest.raises(MetadataMismatchError, match="mismatch"):
                torch.ops.wrong.f(x)


def test_graphs_are_propagated():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 3)

        def forward(self, x):
            return torch.relu(self.layer(x))

    graph = torch.fx.symbolic_trace(Net())
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    result = FakeTensorProp(graph, mode).propagate(torch.ones(2, 4))
    assert result.shape == (2, 3)
    found = {n.name: n.meta["val"] for n in graph.graph.nodes}
    assert is_fake(found["layer"])
    assert found["relu"].shape == (2, 3)


def test_aliasing_is_seen():
    x = torch.ones(3, 3)
    assert fake_utils.outputs_alias_inputs([x[0]], {"x": x})
    assert not fake_utils.outputs_alias_inputs([x.clone()], [x])
    assert fake_utils.outputs_are_inputs([x], [x])
    assert not fake_utils.outputs_are_inputs([x[0]], [x])
    assert fake_utils.output_alias_each_other([x[0], x[1]])


def test_what_is_made_of_numbers_is_fake():
    x = torch.ones(2)
    with FakeTensorMode() as mode:
        made = [
            torch.FloatTensor([1.0]),
            torch.ones(2).new_tensor([1.0, 2.0]),
            torch.ones(2).new([1, 2]),
            torch.signal.windows.nuttall(5),
            torch.signal.windows.general_cosine(4, a=[0.1, 0.2]),
        ]
        assert mode.from_tensor(x).new_tensor(3).tolist() == 3
        with pytest.raises(DataDependentOutputException):
            torch.ones(2, 1).tolist()
    assert all(isinstance(fake, FakeTensor) for fake in made)
    assert [len(fake) for fake in made] == [1, 2, 2, 5, 4]
    # Outside they are as they were.
    assert type(x.new_tensor([1.0])) is torch.Tensor


def test_what_is_remembered_of_views_has_no_history_of_its_own():
    x = FakeTensorMode().from_tensor(torch.ones(2)).requires_grad_()
    y = x * 2
    for _ in range(3):  # the first is computed, others are remembered
        assert not y.detach().requires_grad
        assert y.view(1, 2).requires_grad
