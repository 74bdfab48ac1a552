"""torchdiffeq and torchsde: solutions and their gradients."""

import sys

import torch
from probe import emit, gradients

torch.manual_seed(0)


class Field(torch.nn.Module):
    """A vector field of two variables."""

    def __init__(self) -> None:
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)
        )

    def forward(self, t, y):
        return self.net(y) - 0.1 * y


def ordinary() -> None:
    from torchdiffeq import odeint, odeint_adjoint, odeint_event

    field, start = Field(), torch.tensor([[2.0, 0.0]])
    times = torch.linspace(0, 2, 5)
    for method in (
        "dopri5",
        "rk4",
        "euler",
        "midpoint",
        "bosh3",
        "implicit_adams",
        "adaptive_heun",
    ):
        emit(**{method: odeint(field, start, times, method=method)})
    odeint(field, start, times).square().sum().backward()
    emit(direct=gradients(field))
    field.zero_grad()
    odeint_adjoint(field, start, times).square().sum().backward()
    emit(adjoint=gradients(field))
    found, state = odeint_event(
        lambda t, y: -torch.ones_like(y),
        torch.tensor([1.0]),
        torch.tensor(0.0),
        event_fn=lambda t, y: y - 0.25,
        odeint_interface=odeint,
    )
    emit(event=found, state=state)


class Noise(torch.nn.Module):
    """Drift and diffusion, one for each variable."""

    noise_type, sde_type = "diagonal", "ito"

    def __init__(self) -> None:
        super().__init__()
        self.drift = torch.nn.Linear(3, 3)
        self.spread = torch.nn.Linear(3, 3)

    def f(self, t, y):
        return self.drift(y)

    def g(self, t, y):
        return torch.sigmoid(self.spread(y))


def stochastic() -> None:
    import torchsde

    sde, start = Noise(), torch.full((4, 3), 0.1)
    times = torch.linspace(0, 1, 4)
    for method in ("euler", "milstein", "srk"):
        path = torchsde.BrownianInterval(
            0.0, 1.0, size=(4, 3), entropy=7, levy_area_approximation="space-time"
        )
        found = torchsde.sdeint(sde, start, times, bm=path, method=method, dt=0.1)
        emit(**{method: found})
    found.square().sum().backward()
    emit(gradients=gradients(sde))


globals()[sys.argv[1]]()
