"""Networks eager against graphed: inference, gradients, 20 training steps."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hotaru.graphs import make_graphed_callables

import hotaru as torch
from hotaru import nn

ROOT = Path(__file__).parents[3]
SILERO = Path(os.environ.get("HOTARU_SILERO", ROOT / ".cache/silero_vad.jit"))


class Last(nn.Module):
    """A recurrent layer's last answer through a linear layer."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.fc = nn.Linear(16, 5)

    def forward(self, x):
        return self.fc(self.layer(x)[0][-1])


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Linear(64, 5),
    )


def mlp():
    return nn.Sequential(
        nn.Linear(10, 64), nn.ReLU(), nn.LayerNorm(64), nn.Linear(64, 5)
    )


NETS = {
    "mlp": (mlp, (6, 10)),
    "cnn": (cnn, (3, 1, 12, 12)),
    "rnn": (lambda: Last(nn.RNN(8, 16)), (7, 2, 8)),
    "gru": (lambda: Last(nn.GRU(8, 16, num_layers=2)), (7, 2, 8)),
    "lstm": (lambda: Last(nn.LSTM(8, 16, bidirectional=False)), (7, 2, 8)),
    "transformer": (
        lambda: nn.Sequential(
            nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, norm_first=True),
            nn.Linear(16, 5),
        ),
        (2, 9, 16),
    ),
}
OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
}


def build(name):
    torch.manual_seed(7)
    make, shape = NETS[name]
    return make(), shape


def graph(net, how):
    if how == "compile":
        return torch.compile(net, options={"bitwise": True})
    return make_graphed_callables(net, bitwise=True)


@pytest.mark.parametrize("how", ["graphed", "compile"])
@pytest.mark.parametrize("name", NETS)
def test_inference(name, how):
    plain, shape = build(name)
    plain.eval()
    fast = graph(copy.deepcopy(plain), how)
    with torch.no_grad():
        for batch in (None, None, 1):
            size = list(shape)
            if batch and name in ("mlp", "cnn"):
                size[0] = batch
            x = torch.rand(size)
            assert fast(x).equal(plain(x))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("how", ["graphed", "compile"])
@pytest.mark.parametrize("name", NETS)
def test_twenty_training_steps(name, how, optimizer):
    plain, shape = build(name)
    net = copy.deepcopy(plain)
    fast = graph(net, how)
    losses, states = [], []
    for model, params in ((plain, plain), (fast, net)):
        torch.manual_seed(3)
        steps = OPTIMIZERS[optimizer](params.parameters())
        mine = []
        for _ in range(20):
            x = torch.randn(shape)
            steps.zero_grad()
            out = model(x)
            loss = (out - x.mean()).square().mean()
            loss.backward()
            steps.step()
            mine.append(loss.item())
        losses.append(mine)
        states.append(params.state_dict())
    assert losses[0] == losses[1]
    assert losses[0][-1] != losses[0][0]
    for key, value in states[0].items():
        assert value.equal(states[1][key]), key


def test_networks_of_the_benchmarks_with_all_passes():
    script = Path(__file__).with_name("graphed_benchmarks.py")
    done = subprocess.run(
        [sys.executable, "-m", "hotaru", str(script)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert len(report) == 7
    for name, inference, training in report:
        # Some ten layers, each with sums of up to 5,000 products that are
        # rounded at 6e-8; losses are means over all results, and follow 20
        # updates with such gradients.
        assert inference < 1e-5, name
        assert training < 1e-4, name


@pytest.fixture
def silero():
    if not SILERO.exists():
        pytest.skip(f"{SILERO} is absent; ./dev test fetches it from PyPI")
    device = torch.get_default_device()
    return torch.jit.load(str(SILERO), map_location=device).eval()


@pytest.mark.parametrize("how", ["graphed", "compile"])
def test_silero_keeps_its_state(silero, how):
    torch.manual_seed(2)
    chunks = [torch.randn(1, 512) * 0.1 for _ in range(6)]
    with torch.no_grad():
        want = [silero(c, 16000).item() for c in chunks]
        silero.reset_states()
        again = [silero(c, 16000).item() for c in chunks]
        assert want == again
        silero.reset_states()
        fast = graph(silero, how)
        for _ in range(2):
            got = [fast(c, 16000).item() for c in chunks]
            assert got == want
            silero.reset_states()
    graphed = fast.graphed if how == "compile" else fast.forward
    assert graphed.captures == 1
