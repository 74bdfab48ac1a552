"""pytorch-optimizer: steps of many optimizers; geoopt: on manifolds."""

import sys

import torch
from probe import emit

# Rotated and whitened gradients have no digits left in single precision.
torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
NAMES = (
    "Lion",
    "AdaBelief",
    "RAdam",
    "Lamb",
    "AdamP",
    "Ranger21",
    "Adan",
    "SophiaH",
    "Prodigy",
    "SOAP",
    "AdEMAMix",
    "ScheduleFreeAdamW",
    "Shampoo",
    "MADGRAD",
    "Yogi",
)


def listed() -> None:
    import pytorch_optimizer as P

    for name in NAMES:
        torch.manual_seed(1)
        net = torch.nn.Sequential(
            torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1)
        )
        x = torch.randn(12, 6)
        kind = P.load_optimizer(name.lower())
        groups = net.parameters()
        if name == "Ranger21":
            optimizer = kind(groups, num_iterations=10)
        else:
            optimizer = kind(groups, lr=1e-2)
        losses = []
        for _ in range(4):
            optimizer.zero_grad()
            loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
            loss.backward(create_graph=name == "SophiaH")
            optimizer.step()
            losses.append(loss.item())
        emit(**{name: losses})


def manifolds() -> None:
    import geoopt

    for manifold, kind in (
        (geoopt.PoincareBall(), geoopt.optim.RiemannianAdam),
        (geoopt.Sphere(), geoopt.optim.RiemannianSGD),
        (geoopt.Stiefel(), geoopt.optim.RiemannianAdam),
        (geoopt.Lorentz(), geoopt.optim.RiemannianAdam),
    ):
        torch.manual_seed(2)
        start = manifold.projx(torch.randn(4, 3))
        target = manifold.projx(torch.randn(4, 3))
        x = geoopt.ManifoldParameter(start.clone(), manifold=manifold)
        optimizer, losses = kind([x], lr=0.1), []
        for _ in range(4):
            optimizer.zero_grad()
            loss = (x - target).square().sum()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        emit(**{type(manifold).__name__: [x, losses]})
    ball = geoopt.PoincareBall(c=0.7)
    a, b = ball.random(3, 4), ball.random(3, 4)
    emit(
        distance=ball.dist(a, b),
        added=ball.mobius_add(a, b),
        log=ball.logmap(a, b),
        moved=ball.transp(a, b, 0.1 * a),
        product=ball.mobius_matvec(torch.randn(4, 4), a),
    )


globals()[sys.argv[1]]()
