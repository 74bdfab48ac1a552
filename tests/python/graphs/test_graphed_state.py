"""States that graphed modules carry from call to call."""

import pytest
from hotaru.graphs import make_graphed_callables

import hotaru as torch
from hotaru import nn

make = make_graphed_callables


class Counter(nn.Module):
    """A streaming model: each answer depends on what came before."""

    def __init__(self):
        super().__init__()
        self.total = torch.zeros(2)
        self.pair = (torch.zeros(2), [torch.ones(2)])

    def forward(self, x):
        self.total = self.total + x
        self.pair = (self.pair[0] + 1, [self.pair[1][0] * 2])
        return self.total * self.pair[1][0]


@pytest.mark.parametrize("wrap", ["given", "left out", "compile", "method"])
def test_rebound_state_is_carried(wrap):
    plain, net = Counter(), Counter()
    start = net.total
    call = net
    if wrap == "given":
        make(net, (torch.ones(2),))
    elif wrap == "left out":
        make(net)
    elif wrap == "compile":
        call = torch.compile(net)
    else:
        call = make(net.forward)
    with torch.no_grad():
        for i in range(4):
            x = torch.full((2,), float(i))
            assert call(x).equal(plain(x))
            assert net.total.equal(plain.total)
            assert net.pair[0].equal(plain.pair[0])
            assert net.pair[1][0].equal(plain.pair[1][0])
        # A state bound from outside is the next call's.
        assert start.tolist() == [0, 0]
        net.total, plain.total = start, torch.zeros(2)
        for _ in range(2):
            assert call(x).equal(plain(x))
        assert start.tolist() == [0, 0]


def test_states_that_change_places():
    class Swap(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = torch.zeros(2), torch.ones(2)

        def forward(self):
            self.a, self.b = self.b, self.a
            return self.a - self.b

    net = make(Swap())
    assert [net().tolist()[0] for _ in range(4)] == [1, -1, 1, -1]


def test_a_state_that_changes_its_shape_names_itself():
    class Grow(nn.Module):
        def __init__(self):
            super().__init__()
            self.seen = torch.zeros(0)

        def forward(self, x):
            self.seen = torch.cat([self.seen, x])
            return self.seen.sum()

    net = Grow()
    with pytest.raises(RuntimeError, match=r"attribute Grow\.seen from flo"):
        make(net, (torch.ones(2),))
    assert net.seen.shape == (0,)
    net = torch.compile(Grow(), fullgraph=True)
    with pytest.raises(RuntimeError, match=r"attribute Grow\.seen"):
        net(torch.ones(2))
    net = torch.compile(Grow())
    assert [net(torch.ones(2)).item() for _ in range(3)] == [2, 4, 6]


def test_a_state_that_has_yet_to_begin():
    class Lazy(nn.Module):
        def __init__(self):
            super().__init__()
            self.h = None

        def forward(self, x):
            self.h = x.clone() if self.h is None else self.h + x
            return self.h * 1

    net = make(Lazy())
    with torch.no_grad():
        got = [net(torch.ones(2))[0].item() for _ in range(4)]
    assert got == [1, 2, 3, 4]
    assert net.forward.captures == 1


def test_a_counter_in_python_is_no_state_for_a_graph():
    class Count(nn.Module):
        n = 0

        def forward(self, x):
            self.n = self.n + 1
            return x * self.n

    net = torch.compile(Count())
    assert [net(torch.ones(1)).item() for _ in range(3)] == [1, 2, 3]


def test_tensors_bound_from_outside_are_seen():
    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.mask = torch.ones(2)
            self.register_buffer("scale", torch.ones(2))
            self.parts = [torch.zeros(2)]

        def forward(self, x):
            return x * self.mask * self.scale + self.parts[0]

    net = make(Masked())
    x = torch.ones(2)
    assert net(x).tolist() == [1, 1]
    net.mask = torch.tensor([2.0, 0.0])
    assert net(x).tolist() == [2, 0]
    net.scale = torch.full((2,), 3.0)
    assert net(x).tolist() == [6, 0]
    net.parts = [torch.ones(2)]
    assert net(x).tolist() == [7, 1]
    net.parts[0] = torch.zeros(2)
    assert net(x).tolist() == [6, 0]
    assert net.forward.captures == 5
    scripted = make(torch.jit.script(Masked()))
    assert scripted(x).tolist() == [1, 1]
    scripted.mask = torch.tensor([2.0, 0.0])
    assert scripted(x).tolist() == [2, 0]


def test_a_state_of_a_function_that_runs_as_it_is():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.h = torch.zeros(1)

        def forward(self, x):
            self.h = self.h + (x if x.sum() > 0 else -x)
            return self.h

    net = torch.compile(Net())
    with pytest.warns(UserWarning, match="runs without a graph"):
        net(torch.ones(1))
    assert [net(-torch.ones(1)).item() for _ in range(3)] == [2, 3, 4]
    assert len(net.graphed._failed) == 1
