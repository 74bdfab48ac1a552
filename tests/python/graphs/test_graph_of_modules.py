"""Changes of others to a module's parameters and class, seen by its graphs."""

import pytest

import hotaru as torch
from hotaru import nn

WAYS = {"graphed": torch.graphs.make_graphed_callables, "compiled": torch.compile}
ways = pytest.mark.parametrize("way", WAYS)


def net_and_call(way):
    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    with torch.no_grad():
        net[0].weight.fill_(0.5)
    return net, WAYS[way](net)


@ways
@pytest.mark.parametrize("calls", [0, 2], ids=["before", "after"])
def test_a_hook_of_a_parameter_runs_once_a_backward(way, calls):
    """Hooks may be there when the graph is captured or come later."""
    net, call = net_and_call(way)
    x = torch.ones(3, 2)
    for _ in range(calls):
        call(x).sum().backward()
    (plain,) = torch.autograd.grad(net(x).sum(), net[0].weight)
    seen = []

    def doubled(grad):
        seen.append(grad.shape)
        return grad * 2

    net[0].weight.register_hook(doubled)
    for count in (1, 2):
        net.zero_grad()
        call(x).sum().backward()
        assert len(seen) == count
        assert torch.allclose(net[0].weight.grad, plain * 2)


@ways
def test_a_class_of_no_module(way):
    net, call = net_and_call(way)
    x = torch.ones(3, 2)
    call(x)
    namespace = {"__builtins__": __builtins__, "Tanh": nn.Tanh}
    twice = "{'forward': lambda self, x: x * 2}"
    other = eval(f"type('Other', (Tanh,), {twice})", namespace)
    assert not hasattr(other, "__module__") or "__module__" not in vars(other)
    net[1].__class__ = other
    assert torch.equal(call(x), net[0](x) * 2)


@ways
def test_a_forward_that_its_class_replaces(way):
    class Net(nn.Module):
        def forward(self, x):
            return x + 1

    net = Net()
    call = WAYS[way](net)
    x = torch.ones(2)
    assert torch.equal(call(x), x + 1)
    Net.forward = lambda self, x: x * 5
    assert torch.equal(call(x), x * 5)


@ways
def test_other_memory_between_forward_and_backward(way):
    """Eager code uses what it finds then; a graph says that it cannot."""
    net, call = net_and_call(way)
    x = torch.ones(3, 2, requires_grad=True)
    result = call(x)
    net[0].weight.data = torch.zeros(2, 2)
    with pytest.raises(RuntimeError, match="other memory or another shape"):
        result.sum().backward()
