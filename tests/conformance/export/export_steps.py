"""Steps of both sides with a program: call it, train it, flatten results."""

from __future__ import annotations

STEPS = 20
RATE = 0.02


def call(torch, module, args, kwargs):
    with torch.no_grad():
        return module(*args, **kwargs)


def plain(value):
    """Named tuples as tuples, so that files need no classes."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value)
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value


def flat(value) -> list:
    """The leaves in order."""
    if isinstance(value, dict):
        return [leaf for v in value.values() for leaf in flat(v)]
    if isinstance(value, (tuple, list)):
        return [leaf for v in value for leaf in flat(v)]
    return [value]


def loss_of(torch, result):
    """Loss of all the results that depend on parameters."""
    terms = [
        (leaf.float() ** 2).mean()
        for leaf in flat(result)
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad
    ]
    return sum(terms)


def train(torch, module, args, kwargs) -> dict:
    """Gradients of a first step, then plain SGD; `args` are used up."""
    given = [
        leaf.requires_grad_(True)
        for leaf in flat((args, kwargs))
        if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()
    ]
    names = dict(module.named_parameters())
    loss = loss_of(torch, module(*copied(torch, args), **copied(torch, kwargs)))
    loss.backward()
    out = {
        "loss": loss.detach(),
        "inputs": [t.grad for t in given],
        "gradients": {k: p.grad for k, p in names.items()},
    }
    out = {k: kept(torch, v) for k, v in out.items()}
    optimizer = torch.optim.SGD(
        [p for p in module.parameters() if p.requires_grad], lr=RATE, momentum=0.9
    )
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(torch, module(*copied(torch, args), **copied(torch, kwargs)))
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    out["losses"] = torch.stack(losses)
    out["state"] = {k: v.detach() for k, v in module.state_dict().items()}
    return out


def kept(torch, value):
    if isinstance(value, dict):
        return {k: kept(torch, v) for k, v in value.items()}
    if isinstance(value, list):
        return [kept(torch, v) for v in value]
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def copied(torch, value):
    """Fresh copies that gradients flow through, since programs may write."""
    if isinstance(value, torch.Tensor):
        return value.clone() if value.is_floating_point() else value
    if isinstance(value, dict):
        return {k: copied(torch, v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(copied(torch, v) for v in value)
    return value
