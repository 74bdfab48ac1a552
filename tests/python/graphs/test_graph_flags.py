"""Settings and hooks that a compiled function depends on, changed between its
calls: each call is what it is in eager code.
"""

from __future__ import annotations

import pytest
from hotaru.backends import cuda, mha, mkldnn

import hotaru as torch
from hotaru import nn

steps = pytest.mark.cpu_graphs("optimizers count on the CPU")
SETTINGS = {
    "products": (
        torch.get_float32_matmul_precision,
        torch.set_float32_matmul_precision,
        ("highest", "high", "medium"),
    ),
    "products on the CPU": (
        lambda: mkldnn.matmul.fp32_precision,
        lambda value: setattr(mkldnn.matmul, "fp32_precision", value),
        ("none", "ieee", "bf16"),
    ),
    "convolutions on the CPU": (
        lambda: mkldnn.conv.fp32_precision,
        lambda value: setattr(mkldnn.conv, "fp32_precision", value),
        ("none", "ieee"),
    ),
    "products on a GPU": (
        lambda: cuda.matmul.allow_tf32,
        lambda value: setattr(cuda.matmul, "allow_tf32", value),
        (False, True),
    ),
    "sums on a GPU": (
        lambda: cuda.matmul.allow_fp16_reduced_precision_reduction,
        lambda value: setattr(
            cuda.matmul, "allow_fp16_reduced_precision_reduction", value
        ),
        (True, False),
    ),
    "fast attention": (cuda.flash_sdp_enabled, cuda.enable_flash_sdp, (True, False)),
    "attention by products": (
        cuda.fp16_bf16_reduction_math_sdp_allowed,
        cuda.allow_fp16_bf16_reduction_math_sdp,
        (False, True),
    ),
    "fast layers": (mha.get_fastpath_enabled, mha.set_fastpath_enabled, (True, False)),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_code_that_asks_for_a_setting(name):
    ask, put, values = SETTINGS[name]
    run = torch.compile(lambda x: x + values.index(ask()))
    try:
        for value in (*values, values[0]):
            put(value)
            assert run(torch.zeros(1)).item() == values.index(value)
    finally:
        put(values[0])
        torch.set_float32_matmul_precision("highest")


@pytest.mark.cpu_graphs("the fast path is the CPU's")
def test_fast_layers_of_a_compiled_encoder():
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    net = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False).eval()
    x = torch.linspace(-1, 1, 24).view(2, 3, 4)
    mask = torch.tensor([[False, False, True], [False, False, False]])
    run = torch.compile(net)
    try:
        for fast in (True, False, True):
            mha.set_fastpath_enabled(fast)
            with torch.no_grad():
                got = run(x, src_key_padding_mask=mask)
                wanted = net(x, src_key_padding_mask=mask)
            assert torch.allclose(got, wanted)
    finally:
        mha.set_fastpath_enabled(True)


def test_code_that_asks_for_the_seed():
    generator = torch.Generator()
    asks = torch.compile(lambda x: x + torch.initial_seed())
    of_own = torch.compile(lambda x: x + generator.initial_seed())
    for seed in (3, 4, 3):
        torch.manual_seed(seed)
        generator.manual_seed(seed + 10)
        assert asks(torch.zeros(1)).item() == seed
        assert of_own(torch.zeros(1)).item() == seed + 10


def step_of(net, rate: float = 0.125):
    optimizer = torch.optim.SGD(net.parameters(), rate)

    def step(x):
        optimizer.zero_grad()
        loss = net(x).square().sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def two_nets():
    nets = nn.Linear(2, 1, bias=False), nn.Linear(2, 1, bias=False)
    for net in nets:
        nn.init.ones_(net.weight)
    return nets


@steps
@pytest.mark.parametrize("after", [False, True])
def test_hooks_of_parameters_that_take_notes(after):
    """They run within the step's own backward pass: in each call."""
    net, _ = two_nets()
    seen = []
    if after:
        net.weight.register_post_accumulate_grad_hook(
            lambda weight: seen.append(weight.grad.clone())
        )
    else:
        net.weight.register_hook(lambda grad: seen.append(grad.clone()))
    step = torch.compile(step_of(net))
    x = torch.tensor([[1.0, 0.5]])
    for count in range(1, 5):
        step(x)
        assert len(seen) == count
    assert len({tuple(grad.flatten().tolist()) for grad in seen}) == 4


@steps
def test_hooks_of_parameters_come_and_go():
    net, other = two_nets()
    run, eager = torch.compile(step_of(net)), step_of(other)
    x = torch.tensor([[1.0, 0.5]])

    def both(count: int = 2):
        for _ in range(count):
            assert torch.allclose(run(x), eager(x))
        assert torch.allclose(net.weight, other.weight)

    both()
    halves = [n.weight.register_hook(lambda g: g * 0.5) for n in (net, other)]
    both()
    for n in (net, other):
        n.weight.register_hook(lambda g: g + 0.25)
    both()
    for handle in halves:
        handle.remove()
    both()


@steps
def test_numbers_that_hooks_of_parameters_read():
    net, other = two_nets()
    scale = [1.0]
    for n in (net, other):
        n.weight.register_hook(lambda grad: grad * scale[0])
    run, eager = torch.compile(step_of(net)), step_of(other)
    x = torch.tensor([[1.0, 0.5]])
    for scale[0] in (1.0, 1.0, 0.5, 0.25):
        assert torch.allclose(run(x), eager(x))
        assert torch.allclose(net.weight, other.weight)
