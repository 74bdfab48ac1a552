"""Dynamically quantised networks as compiled code."""

import io

import pytest
from hotaru.ao import quantization as aq

import hotaru
from hotaru import nn

X = hotaru.linspace(-1, 1, 12).view(3, 4)


def network(config, dtype):
    hotaru.manual_seed(0)
    made = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2, bias=False))
    return aq.quantize_dynamic(made, config, dtype=dtype)


CASES = {
    "int8": ({nn.Linear}, hotaru.qint8),
    "half": ({nn.Linear}, hotaru.float16),
    "channels": ({nn.Linear: aq.per_channel_dynamic_qconfig}, hotaru.qint8),
}


def again(module):
    file = io.BytesIO()
    hotaru.jit.save(module, file)
    file.seek(0)
    return hotaru.jit.load(file)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("way", ["script", "trace", "frozen"])
def test_compiled_numbers_are_those_of_the_modules(case, way):
    module = network(*CASES[case]).eval()
    if way == "trace":
        compiled = hotaru.jit.trace(module, X)
    else:
        compiled = hotaru.jit.script(module)
    if way == "frozen":
        compiled = hotaru.jit.freeze(compiled)
    for x in (X, X[:1] * 5):
        assert hotaru.equal(compiled(x), module(x))
        assert hotaru.equal(again(compiled)(x), module(x))


class Recurrent(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.net = kind(4, 3, **options)

    def forward(self, x):
        return self.net(x)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize(
    "options", [{}, {"num_layers": 2, "bidirectional": True, "batch_first": True}]
)
def test_recurrent_networks_are_scripted(kind, options, frozen):
    hotaru.manual_seed(0)
    module = aq.quantize_dynamic(Recurrent(kind, **options), {kind}).eval()
    compiled = hotaru.jit.script(module)
    compiled = hotaru.jit.freeze(compiled) if frozen else compiled
    for x in (X.view(1, 3, 4), hotaru.cat([X, X + 1]).view(2, 3, 4)):
        expected, found = module(x), again(compiled)(x)
        hotaru.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)
        hotaru.testing.assert_close(compiled(x), expected)
