"""Recurrent layers of archives in int8."""

import subprocess
import sys
from pathlib import Path

import pytest

import hotaru as torch
from hotaru import nn

COMMAND = Path(sys.executable).with_name("hotaru")
LSTM = torch._C._operator("hotaru::lstm_dynamic")


def converted(module, folder, precision="int8"):
    """The text of the command, and what it wrote."""
    torch.jit.script(module.eval()).save(str(folder / "model.pt"))
    done = subprocess.run(
        [
            str(COMMAND),
            "convert",
            str(folder / "model.pt"),
            str(folder / "low.pt"),
            f"--precision={precision}",
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, torch.jit.load(str(folder / "low.pt"))


class Tagger(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        torch.manual_seed(0)
        self.layers = kind(13, 20, **options)
        self.last = nn.Linear(20 * (1 + options.get("bidirectional", 0)), 3)

    def forward(self, x):
        y, states = self.layers(x)
        return self.last(y), states


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for part in value for t in tensors(part)]


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_layers": 2, "bidirectional": True, "batch_first": True},
        {"num_layers": 3, "bias": False},
        {"num_layers": 2, "dropout": 0.5},
    ],
)
def test_integers_are_those_of_quantize_dynamic(tmp_path, kind, options):
    model = Tagger(kind, **options)
    text, made = converted(model, tmp_path)
    assert text == "1 linear map and 1 recurrent layer in int8\n"
    wanted = torch.ao.quantization.quantize_dynamic(model, {kind, nn.Linear})
    with torch.no_grad():
        for shape in ((5, 7, 13), (1, 1, 13), (9, 2, 13)):
            x = torch.randn(shape)
            for a, b in zip(tensors(made(x)), tensors(wanted(x))):
                assert torch.equal(a, b)
        alone = torch.randn(4, 13)  # without a batch
        batched = alone.unsqueeze(0 if options.get("batch_first") else 1)
        assert torch.equal(made(alone)[0].reshape(-1), made(batched)[0].reshape(-1))


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_queued_and_graphs_are_as_eager(tmp_path, kind):
    _, made = converted(Tagger(kind, num_layers=2), tmp_path)
    x = torch.randn(6, 3, 13)
    with torch.no_grad():
        wanted = made(x)[0]
        with torch.cpu.stream(torch.cpu.Stream()):
            queued = made(x)[0]
        torch.cpu.synchronize()
        assert torch.equal(queued, wanted)
        graph, held = torch.cpu.Graph(), x.clone()
        with torch.cpu.graph(graph):
            replayed = made(held)[0]
        for again in (x, -x):
            held.copy_(again)
            graph.replay()
            # A last bit of an activation may move a state by a step of 2^-7.
            assert torch.allclose(replayed, made(again)[0], atol=0.02)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_states_are_given_and_taken(tmp_path, kind):
    class Stepper(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = kind(8, 16, 2)

        if kind is nn.LSTM:

            def forward(self, x, h, c):
                y, (h, c) = self.layers(x, (h, c))
                return y, h, c
        else:

            def forward(self, x, h):
                return self.layers(x, h)

    model = Stepper()
    text, made = converted(model, tmp_path)
    assert text == "1 recurrent layer in int8\n"
    states = [torch.randn(2, 3, 16) for _ in range(1 + (kind is nn.LSTM))]
    x = torch.randn(5, 3, 8)
    with torch.no_grad():
        got, want = made(x, *states), model(x, *states)
    for a, b in zip(got, want):
        assert 0 < (a - b).abs().max() < 0.1


def test_archives_are_a_quarter_as_large(tmp_path):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.LSTM(128, 256)

        def forward(self, x):
            return self.inner(x)[0]

    converted(Model(), tmp_path)
    before = (tmp_path / "model.pt").stat().st_size
    weights = 1024 * (128 + 256)
    after = (tmp_path / "low.pt").stat().st_size
    assert weights < after < weights + 2 * 4096 + 20000 < before / 3.5


def test_what_stays_is_told_of(tmp_path):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.plain = nn.RNN(8, 8)
            self.projected = nn.LSTM(8, 8, proj_size=4)
            self.broken = nn.GRU(4, 4)
            self.broken.weight_hh_l0.data[0, 0] = torch.nan
            self.last = nn.Linear(4, 4)

        def forward(self, x):
            y, _ = self.projected(self.plain(x)[0])
            return self.last(y), self.broken(y)[0]

    text, made = converted(Model(), tmp_path)
    expected = "1 linear map in int8; in float32: gru, lstm, rnn_tanh\n"
    assert text == expected
    with torch.no_grad():
        assert made(torch.randn(3, 2, 8))[1].isnan().any()


def call(x=(5, 2, 8), h=(1, 2, 4), weights=((16, 8), (16, 4)), biases=0):
    return LSTM(
        torch.zeros(x),
        [torch.zeros(h)] * 2,
        [torch.zeros(w, dtype=torch.int8) for w in weights],
        [torch.ones(1)] * len(weights),
        [torch.zeros(16)] * biases,
        1,
        False,
        False,
    )


def test_errors_say_what_would_be_right():
    assert call()[0].shape == (5, 2, 4)
    assert call(x=(5, 0, 8), h=(1, 0, 4))[0].shape == (5, 0, 4)
    for text, options in {
        "larger than 0 in RNN": {"x": (0, 2, 8)},
        "three dimensions, got shape [5, 8]": {"x": (5, 8)},
        "should be [1, batch, hidden]": {"h": (2, 2, 4)},
        "2 weights, as many scales and biases or none, got 1": {"weights": ((16, 8),)},
        "weight 1 should have 4 times 4 rows": {"weights": ((16, 8), (12, 4))},
        "as many scales and biases or none, got 2, 2 and 1": {"biases": 1},
    }.items():
        with pytest.raises(RuntimeError) as error:
            call(**options)
        assert text in str(error.value)
