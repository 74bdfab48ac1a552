"""Steps of optimizers on a CUDA device: some dozen tensors a launch."""

from __future__ import annotations

import pytest

# More tensors than a launch has room for, and more stretches in one of them.
SIZES = [*range(70), 8192 * 321 + 5]


def stepped(torch, name, device, dtype, **options):
    values = [
        torch.linspace(-1, 1, n, dtype=dtype).to(device).requires_grad_() for n in SIZES
    ]
    optimizer = getattr(torch.optim, name)(values, lr=0.1, **options)
    for k in range(2):
        for x in values:
            x.grad = torch.linspace(k - 1, k + 1, x.numel(), dtype=dtype).to(device)
        optimizer.step()
    return [x.detach().cpu() for x in values], optimizer


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Adam", {"amsgrad": True}),
        ("AdamW", {}),
        ("SGD", {"momentum": 0.9, "nesterov": True}),
        ("SGD", {}),
        ("Adagrad", {"lr_decay": 0.1}),
    ],
)
@pytest.mark.parametrize("fused", [None, True])
def test_as_on_the_cpu(hotaru, cuda, name, options, fused):
    torch = hotaru
    dtype = torch.float32
    got, optimizer = stepped(torch, name, cuda, dtype, fused=fused, **options)
    wanted, _ = stepped(torch, name, "cpu", dtype, **options)
    for a, b in zip(got, wanted, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)
    for state in optimizer.state.values():
        if "step" in state:  # where PyTorch has it
            assert state["step"].item() == 2
            assert state["step"].is_cuda == (fused is True)


def test_rate_and_scale_on_the_device(hotaru, cuda):
    torch = hotaru
    x = torch.ones(5, device=cuda).requires_grad_()
    optimizer = torch.optim.SGD([x], lr=torch.tensor(0.5), fused=True)
    x.grad = torch.full((5,), 8.0, device=cuda)
    optimizer.grad_scale = torch.tensor(4.0, device=cuda)
    optimizer.found_inf = torch.tensor(1.0, device=cuda)
    optimizer.step()
    assert x.tolist() == [1.0] * 5
    optimizer.found_inf = torch.tensor(0.0, device=cuda)
    optimizer.step()
    assert x.tolist() == [0.0] * 5
    torch._fused_sgd_(
        [x.detach()],
        [x.grad],
        [],
        weight_decay=0.0,
        momentum=0.0,
        lr=torch.tensor(0.25, device=cuda),
        dampening=0.0,
        nesterov=False,
        maximize=True,
        is_first_step=False,
    )
    assert x.tolist() == [0.5] * 5


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("AdamW", {"fused": True}),
        ("AdamW", {"capturable": True}),
        ("SGD", {"momentum": 0.9}),
        ("RMSprop", {"capturable": True}),
    ],
)
def test_a_whole_step_as_a_graph(hotaru, cuda, name, options):
    torch = hotaru

    def losses(compiled):
        torch.manual_seed(0)
        net = torch.nn.Linear(4, 3).to(cuda)
        optimizer = getattr(torch.optim, name)(net.parameters(), lr=0.1, **options)
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)

        def step(x):
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        exact = {"bitwise": True}
        call = step
        if compiled:
            call = torch.compile(step, fullgraph=True, options=exact)
        out = []
        for i in range(5):
            x = torch.linspace(-1, 1 + i, 8).reshape(2, 4).to(cuda)
            out.append(call(x).item())
            schedule.step()
        if compiled:
            assert 1 <= call.captures <= 2
        return out

    # One by one, powers of the count are float32, of which 1 - 0.999^t keeps
    # four digits.
    rel = 1e-4 if options.get("capturable") else 1e-6
    assert losses(True) == pytest.approx(losses(False), rel=rel)
