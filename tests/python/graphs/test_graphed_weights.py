"""Weights that graphs bring into another form: every change is seen."""

import numpy as np
import pytest
from hotaru.graphs import _capture

import hotaru as torch
from hotaru import nn


def network():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, 8),
    ).eval()


def close(a, b):
    return torch.allclose(a, b, rtol=1e-4, atol=1e-5)


def captured(net, x):
    graph = torch.cpu.Graph()
    with torch.no_grad(), torch.cpu.graph(graph):
        y = net(x)
    graph.replay()
    return graph, y


def by_optimizer(net):
    optimizer = torch.optim.SGD(net.parameters(), 0.5)
    for p in net.parameters():
        p.grad = torch.ones_like(p)
    optimizer.step()


def by_state_dict(net):
    net.load_state_dict({k: v * 1.5 for k, v in net.state_dict().items()})


def by_data(net):
    net[3].weight.data.mul_(2)


def by_training(net):
    net.train()
    net(torch.randn(4, 3, 9, 9) + 1)  # moves the running statistics
    net.eval()


def on_a_stream(net):
    stream = torch.cpu.Stream()
    with torch.no_grad(), torch.cpu.stream(stream):
        net[0].bias.add_(1)
        net[6].weight.mul_(3)


def by_numpy(net):
    net[3].weight.detach().numpy()[:] *= 2


def by_buffer(net):
    memoryview(net[6].weight.detach().numpy())[0, 0] = net[6].weight[0, 0].item() + 4


def by_item(net):
    with torch.no_grad():
        net[0].weight[0, 0, 0, 0] += 3


def on_the_host(change):
    return pytest.param(change, marks=pytest.mark.cpu_graphs("arrays are on the host"))


WAYS = [
    by_optimizer,
    by_state_dict,
    by_data,
    by_training,
    on_a_stream,
    on_the_host(by_numpy),
    on_the_host(by_buffer),
    by_item,
]


@pytest.mark.parametrize("change", WAYS, ids=lambda f: f.__name__)
def test_a_replay_sees_new_weights(change):
    net, x = network(), torch.randn(2, 3, 9, 9)
    graph, y = captured(net, x)
    with torch.no_grad():
        before = net(x).clone()
    assert close(y, before)
    for _ in range(2):
        change(net)
        with torch.no_grad():
            want = net(x)
        assert not close(want, before)
        graph.replay()
        assert close(y, want)
        before = want.clone()


@pytest.mark.cpu_graphs("arrays are on the host")
def test_an_array_kept_from_before_goes_on_changing_weights():
    net, x = network(), torch.randn(2, 3, 9, 9)
    array = net[3].weight.detach().numpy()
    graph, y = captured(net, x)
    for scale in (2, 0.25, 3):
        array *= scale
        graph.replay()
        with torch.no_grad():
            assert close(y, net(x))


@pytest.mark.cpu_graphs("arrays are on the host")
def test_weights_over_numpy_memory():
    net, x = network(), torch.randn(2, 3, 9, 9)
    array = np.ones((32, 16, 3, 3), np.float32)
    net[3].weight = nn.Parameter(torch.from_numpy(array), requires_grad=False)
    graph, y = captured(net, x)
    array[:, :8] = 0.5
    graph.replay()
    with torch.no_grad():
        assert close(y, net(x))


@pytest.mark.cpu_graphs("no other device packs weights")
def test_what_is_kept_goes_with_the_graph():
    net, x = network(), torch.randn(2, 3, 9, 9)
    before = torch.cpu.memory_allocated()
    graph, y = captured(net, x)
    kept = graph._plan()["kept"]
    assert kept >= 4 * (16 * 27 + 32 * 144)
    assert torch.cpu.memory_allocated() >= before + kept - 4096
    graph.reset()
    del y
    assert torch.cpu.memory_allocated() == before


class Reordered(nn.Module):
    """A layer whose gates come in another order, as formats have them."""

    def __init__(self):
        super().__init__()
        self.w, self.r = nn.Parameter(torch.randn(96, 8)), torch.randn(96, 32)

    def forward(self, x):
        def gates(w):
            return torch.cat([w[32:64], w[:32], w[64:]])

        weights = [gates(self.w), gates(self.r)]
        h = torch.zeros(1, 1, 32)
        return torch.gru(x, h, weights, False, 1, 0.0, False, False, False)[0]


@pytest.mark.cpu_graphs("calls of other devices stay where they are")
def test_weights_are_put_in_order_once():
    net, x = Reordered(), torch.randn(5, 1, 8)
    graph, y = captured(net, x)
    assert [name for name, _ in graph._nodes()] == ["rnn_layer"]
    for change in (1.0, 0.5, -2.0):
        with torch.no_grad():
            net.w.mul_(change)
            graph.replay()
            assert close(y, net(x))
        x.copy_(torch.randn(5, 1, 8))


@pytest.mark.cpu_graphs("calls of other devices stay where they are")
def test_what_is_made_of_no_tensor_is_made_once():
    def masked(x):
        places = torch.arange(x.size(-1))
        return x.masked_fill(places[None] > places[:, None], 0.0).sum(-1)

    x = torch.randn(6, 6)
    graph, y = captured(masked, x)
    made = {"arange", "gt", "fill_"}
    assert not made & {name for name, _ in graph._nodes()}
    assert close(y, x.tril().sum(-1))


@pytest.mark.cpu_graphs("calls of other devices stay where they are")
def test_what_is_written_again_is_no_constant():
    def counted(x):
        out = torch.zeros(4)
        out[1:] += x
        return out * 2

    x = torch.randn(3)
    graph, y = captured(counted, x)
    for _ in range(3):
        x.copy_(torch.randn(3))
        graph.replay()
        assert close(y[1:], x * 2)
        assert y[0] == 0


@pytest.mark.cpu_graphs("no other device packs weights")
def test_weights_of_contiguous_rows_are_packed():
    weight = torch.randn(64, 48)
    for rows in (1, 16):
        x = torch.randn(rows, 64)
        graph, y = captured(lambda x: x @ weight, x)
        assert (graph._plan()["kept"] > 0) == (rows > 3)
        for _ in range(2):
            graph.replay()
            assert close(y, x @ weight)
            weight.mul_(2)


@pytest.mark.cpu_graphs("no other device packs weights")
def test_arguments_are_not_packed_as_weights_are(monkeypatch):
    graphs = []
    made = _capture.Options.graph
    monkeypatch.setattr(
        _capture.Options,
        "graph",
        lambda *args: graphs.append(made(*args)) or graphs[-1],
    )
    weight = torch.randn(64, 48)
    product = torch.compile(lambda x, w: nn.functional.linear(x, w) @ weight.T)
    with torch.no_grad():
        for _ in range(3):
            x, w = torch.randn(5, 32), torch.randn(48, 32)
            assert close(product(x, w), x @ w.T @ weight.T)
    # The lasting one alone is kept.
    assert graphs[-1]._plan()["kept"] == 64 * 48 * 4


@pytest.mark.cpu_graphs("numbers before products are taken along on the CPU")
def test_scaled_factors_of_products():
    scale, other = torch.tensor([0.5]), torch.tensor(3.0)

    def scores(x):
        q = x.view(1, 5, 3, 4).transpose(1, 2)
        return (q * scale) @ (q.transpose(-1, -2) * other)

    x = torch.randn(1, 5, 12)
    graph, y = captured(scores, x)
    assert [name for name, _ in graph._nodes()] == ["linear"]
    for _ in range(3):
        x.copy_(torch.randn(1, 5, 12))
        scale.mul_(2)
        other.add_(1)
        graph.replay()
        assert close(y, scores(x))


@pytest.mark.cpu_graphs("calls of other devices stay where they are")
def test_what_is_made_of_what_was_made_once():
    weight, x = torch.randn(32, 16, 3, 3), torch.randn(1, 16, 8, 8)

    def swapped(x):
        both = torch.cat([weight[16:], weight[:16]])
        return torch.conv2d(x, both)

    graph, y = captured(swapped, x)
    assert "cat" not in {name for name, _ in graph._nodes()}
    for _ in range(3):
        graph.replay()
        assert close(y, swapped(x))
        weight.mul_(-0.5)


@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("steps", [1, 20])
def test_recurrent_weights_are_packed_once_and_again(layer, dtype, steps):
    torch.manual_seed(1)
    net = layer(24, 40, 2, bidirectional=True).eval().to(dtype)
    x = torch.randn(steps, 3, 24, dtype=dtype)
    graph, (y, _) = captured(net, x)
    with torch.no_grad():
        assert close(y, net(x)[0])
        net.weight_hh_l0.mul_(-1)
        net.weight_ih_l1_reverse.add_(0.1)
        graph.replay()
        assert close(y, net(x)[0])


def test_a_recurrent_weight_of_two_layers_is_packed_for_both():
    torch.manual_seed(2)
    cell = nn.LSTMCell(40, 40).eval()
    x = torch.randn(2, 40)

    def net(x):
        h, c = cell(x)
        return cell(h, (h, c))[0]

    graph, y = captured(net, x)
    with torch.no_grad():
        cell.weight_hh.mul_(2)
        cell.weight_ih.mul_(0.5)
        graph.replay()
        assert close(y, net(x))


def test_projected_and_narrow_recurrent_layers_read_weights_in_place():
    torch.manual_seed(3)
    x = torch.randn(20, 2, 8)
    for net in (nn.LSTM(8, 40, proj_size=16), nn.GRU(8, 5), nn.RNN(8, 7)):
        _, (y, _) = captured(net.eval(), x)
        with torch.no_grad():
            assert close(y, net(x)[0])
