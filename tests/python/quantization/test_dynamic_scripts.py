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
