"""Random convolutional networks, eager against graphed: pictures change their
layout on the way, and nobody may notice.
"""

import os

import pytest
from hotaru.nn import functional as F
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hotaru as torch
from hotaru import nn

# 10,000 networks by night: HOTARU_GRAPH_PROGRAMS=10000.
PROGRAMS = int(os.environ.get("HOTARU_GRAPH_PROGRAMS", "120"))
PASSES = [name for name, _, _ in torch.graphs.passes()]
CHANNELS = (3, 8, 16, 24, 32, 40)


def convolution(x, pick):
    kernel = (1, 3, 5)[pick % 3]
    groups = x.shape[1] if pick % 4 == 0 else 1
    outputs = x.shape[1] if groups > 1 else CHANNELS[pick % 6]
    layers = [
        nn.Conv2d(
            x.shape[1],
            outputs,
            kernel,
            stride=1 + pick % 5 // 4,
            padding=kernel // 2,
            groups=groups,
            bias=pick % 2 == 0,
        )
    ]
    if pick % 3:
        norm = nn.BatchNorm2d(outputs)
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 1.5)
        layers.append(norm)
    return nn.Sequential(*layers).eval()


def in_place(x, _):
    y = x * 1
    y.relu_()
    y[:, :, :1] = 0.5
    return y


def rows(x, _):
    return x.flatten(1).softmax(-1).view_as(x) + x


# Steps for a picture; convolutions are made with their weights.
STEPS = {
    "convolution": convolution,
    "relu": lambda x, _: x.relu(),
    "silu": lambda x, _: F.silu(x),
    "hardswish": lambda x, _: F.hardswish(x),
    "scale": lambda x, _: x * 0.5 + 0.25,
    "max_pool": lambda x, _: F.max_pool2d(x, 3, 2, 1),
    "avg_pool": lambda x, _: F.avg_pool2d(x, 2, 1, ceil_mode=True),
    "nearest": lambda x, _: F.interpolate(
        x if x.shape[2] < 9 else x[:, :, :8, :8].contiguous(), scale_factor=2.0
    ),
    "squeeze": lambda x, _: x * F.adaptive_avg_pool2d(x, 1).sigmoid(),
    "cat": lambda x, _: torch.cat([x, x.relu()], 1),
    "half": lambda x, _: x[:, : (x.shape[1] + 1) // 2],
    "shift": lambda x, _: x.roll(1, 3),
    "transpose": lambda x, _: x.transpose(2, 3).contiguous(),
    "in place": in_place,
    "rows": rows,
}
# More of what changes the layout.
NAMES = sorted(STEPS) + ["convolution"] * 8 + ["relu"] * 2
programs = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.integers(0, 59),  # of the step
        st.integers(0, 3),  # its picture, of the latest
        st.booleans(),  # whether the program's result has it too
    ),
    min_size=2,
    max_size=12,
)


class Network(nn.Module):
    """A program's steps; their inputs and results as it says."""

    def __init__(self, program, x):
        super().__init__()
        torch.manual_seed(1)
        self.steps, self.layers = [], nn.ModuleList()
        pictures = [x]
        for name, pick, at, wanted in program:
            of = pictures[max(0, len(pictures) - 1 - at)]
            if min(of.shape[2:]) < 3 or of.shape[1] > 64:
                name = "relu"
            layer = None
            if name == "convolution":
                layer = convolution(of, pick)
                self.layers.append(layer)
            self.steps.append((name, layer, at, wanted))
            pictures.append(self.step(self.steps[-1], pictures))

    def step(self, step, pictures):
        name, layer, at, _ = step
        x = pictures[max(0, len(pictures) - 1 - at)]
        y = layer(x) if layer else STEPS[name](x, None)
        # A residual wherever shapes allow it.
        same = [p for p in pictures[:-1] if p.shape == y.shape]
        return y + same[-1] if same and name == "convolution" else y

    def forward(self, x):
        pictures, results = [x], []
        for step in self.steps:
            pictures.append(self.step(step, pictures))
            if step[3]:
                results.append(pictures[-1])
        return [*results, pictures[-1].mean((2, 3)), pictures[-1]]


def graphed(network, x, **options):
    graph = torch.cpu.Graph(**options)
    with torch.cpu.graph(graph):
        out = network(x)
    graph.replay()
    return graph, out


def check(got, want, close):
    for g, w in zip(got, want):
        assert g.shape == w.shape
        if close:
            # Sums of up to 1,000 products, layer after layer; a network of 12
            # amplifies what is rounded by its largest values.
            scale = max(1.0, float(w.abs().max()))
            assert float((g - w).abs().max()) <= 2e-4 * scale
        else:
            assert torch.equal(g, w)


@settings(max_examples=PROGRAMS, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs, st.sampled_from(["none", *PASSES]), st.integers(1, 2))
def test_networks(program, left_out, batch):
    with torch.no_grad():
        torch.manual_seed(0)
        x = torch.randn(batch, 3, 13, 11)
        network = Network(program, x)
        want = network(x)
        without = () if left_out == "none" else (left_out,)
        graph, got = graphed(network, x, without=without)
        check(got, want, close=True)
        _, exact = graphed(network, x, bitwise=True)
        check(exact, want, close=False)
        # Once more with other values and other weights.
        x.normal_()
        for p in network.parameters():
            p.mul_(1.25)
        graph.replay()
        check(got, network(x), close=True)


@pytest.mark.cpu_graphs("no other device has blocks of channels")
def test_the_networks_use_blocks():
    program = [("convolution", 2, 0, False), ("convolution", 2, 0, False)]
    with torch.no_grad():
        x = torch.randn(1, 3, 13, 11)
        graph, _ = graphed(Network(program, x), x)
    assert "blocked_conv" in [name for name, _ in graph._nodes()]
