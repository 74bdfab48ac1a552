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


# Values that a call may return of the state that it replaces.
OF_BEFORE = {
    "itself": lambda h: h,
    "values": lambda h: h.detach(),
    "a view": lambda h: h[1:],
    "twice": lambda h: (h, h.view(-1)),
    "in a nest": lambda h: {"a": [h]},
}


def _values(result):
    if isinstance(result, torch.Tensor):
        return result.tolist()
    if isinstance(result, dict):
        return {key: _values(value) for key, value in result.items()}
    return [_values(value) for value in result]


def _write(result):
    if isinstance(result, torch.Tensor):
        result.fill_(7.0)
        return
    for value in result.values() if isinstance(result, dict) else result:
        _write(value)


@pytest.mark.filterwarnings("ignore:compile: ")
@pytest.mark.parametrize("wrap", [make, torch.compile])
@pytest.mark.parametrize("name", OF_BEFORE)
@pytest.mark.parametrize("kept", ["tensor", "list"])
def test_the_state_of_before_is_a_result(wrap, name, kept):
    class Delay(nn.Module):
        def __init__(self):
            super().__init__()
            self.h = torch.zeros(2)
            self.hs = [torch.zeros(2)]

        def forward(self, x):
            if kept == "tensor":
                before, self.h = self.h, x * 2
            else:
                before, self.hs[0] = self.hs[0], x * 2
            return OF_BEFORE[name](before)

    plain, net = Delay(), wrap(Delay())
    for i in range(4):
        x = torch.full((2,), float(i))
        wanted, found = plain(x), net(x)
        assert _values(found) == _values(wanted)
        # The caller may do with it as they like.
        _write(wanted)
        _write(found)


@pytest.mark.filterwarnings("ignore:compile: ")
@pytest.mark.parametrize(
    "write",
    [
        lambda h, x: h.add_(x),
        lambda h, x: h[1:].add_(x[1:]),
        lambda h, x: h.detach().mul_(3),
        lambda h, x: h.copy_(x),
    ],
)
@pytest.mark.parametrize("other", [lambda h: h, lambda h: h[1:]])
def test_a_state_that_is_written_and_replaced(write, other):
    """Others see what was written, whether or not the call reads them."""

    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.h = torch.ones(2)
            self.other = other(self.h)

        def forward(self, x):
            write(self.h, x)
            read = self.other * 1
            self.h = self.h * 2
            return read

    plain, net = Both(), Both()
    run = torch.compile(net)
    held, wanted_held = net.h, plain.h
    for i in range(3):
        x = torch.full((2,), i + 2.0)
        assert run(x).equal(plain(x))
        assert net.h.equal(plain.h)
        assert held.equal(wanted_held)
    with pytest.raises(RuntimeError, match=r"writes to Both\.h and replaces it"):
        make(Both())(torch.ones(2))


@pytest.mark.filterwarnings("ignore:compile: ")
@pytest.mark.parametrize("kept", ["tensors", "list"])
def test_states_that_change_places_in_plain_calls(kept):
    """A call without a graph binds one state to where the graph has another."""

    class Swap(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = torch.zeros(2), torch.ones(2)
            self.parts = [torch.zeros(2), torch.ones(2)]

        def forward(self, x, plain):
            if kept == "tensors":
                self.a, self.b = self.b, self.a
            else:
                self.parts.reverse()
                self.parts[0] = self.parts[0] + x
            return x * 2 if not plain or x.sum() > 0 else x

    plain, net = Swap(), Swap()
    run = torch.compile(net)
    for i, alone in enumerate([0, 0, 1, 0, 1, 1, 0, 1, 0]):
        x = torch.full((2,), float(i))
        assert torch.equal(run(x, bool(alone)), plain(x, bool(alone)))
        for mine, theirs in (
            (plain.a, net.a),
            (plain.b, net.b),
            *zip(plain.parts, net.parts),
        ):
            assert torch.equal(mine, theirs)


def _part(self, x):
    self.a = self.a + x
    self.b = self.a[:1]


def _both(self, x):
    self.a = self.b = self.b.sum() + x


def _of_what_stays(self, x):
    self.a = self.kept[:2]


def _apart(self, x):
    self.a, self.b = torch.cat([self.a + x, self.b]).split([2, 1])


def _shifted(self, x):
    self.b, self.a = self.a[:1], self.a + x


@pytest.mark.filterwarnings("ignore:compile: ")
@pytest.mark.parametrize(
    ("change", "fits"),
    [
        (_part, False),
        (_both, False),
        (_of_what_stays, False),
        (_apart, True),
        (_shifted, True),
    ],
)
def test_states_that_come_to_share_memory(change, fits):
    """Whoever writes to one later writes to the other."""

    class States(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = torch.zeros(2), torch.zeros(1)
            if change is _both:
                self.b = torch.zeros(2)
            self.kept = torch.arange(3.0)

        def forward(self, x):
            change(self, x)
            return self.a.sum() + self.b.sum()

    plain, net = States(), States()
    run = torch.compile(net, fullgraph=fits)
    for i in range(3):
        x = torch.full((2,), i + 1.0)
        assert torch.equal(run(x), plain(x))
        for states in (plain, net):
            for tensor in (states.kept, states.a, states.b):
                tensor.mul_(2)
        assert torch.equal(plain.a, net.a)
        assert torch.equal(plain.b, net.b)
        assert torch.equal(plain.kept, net.kept)
