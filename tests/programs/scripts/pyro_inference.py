"""Pyro: variational inference, Hamiltonian Monte Carlo, effects."""

import sys

import pyro
import pyro.distributions as dist
import torch
from probe import emit
from pyro import infer, poutine

pyro.set_rng_seed(0)
X = torch.randn(20, 2)
Y = X @ torch.tensor([1.0, -2.0]) + 0.5


def model(x, y=None):
    weight = pyro.sample("weight", dist.Normal(torch.zeros(2), 1.0).to_event(1))
    bias = pyro.sample("bias", dist.Normal(0.0, 1.0))
    with pyro.plate("rows", len(x)):
        return pyro.sample("y", dist.Normal(x @ weight + bias, 0.3), obs=y)


def variational() -> None:
    for kind in ("AutoNormal", "AutoMultivariateNormal", "AutoIAFNormal", "AutoDelta"):
        pyro.clear_param_store()
        pyro.set_rng_seed(1)
        options = {"hidden_dim": [8]} if kind == "AutoIAFNormal" else {}
        guide = getattr(infer.autoguide, kind)(model, **options)
        svi = infer.SVI(model, guide, pyro.optim.Adam({"lr": 0.05}), infer.Trace_ELBO())
        emit(**{kind: [svi.step(X, Y) for _ in range(8)]})


def montecarlo() -> None:
    kernel = infer.NUTS(model, jit_compile=False)
    run = infer.MCMC(kernel, 6, 6, disable_progbar=True)
    run.run(X, Y)
    emit(samples=run.get_samples())


def effects() -> None:
    trace = poutine.trace(model).get_trace(X)
    emit(names=list(trace.nodes), total=trace.log_prob_sum())
    other = poutine.condition(model, data={"bias": torch.tensor(2.0)})
    emit(bias=poutine.trace(other).get_trace(X).nodes["bias"]["value"])

    @infer.config_enumerate
    def mixture(data):
        share = pyro.sample("share", dist.Dirichlet(torch.ones(2)))
        places = torch.tensor([-1.0, 1.0])
        with pyro.plate("data", len(data)):
            which = pyro.sample("which", dist.Categorical(share))
            pyro.sample("x", dist.Normal(places[which], 0.5), obs=data)

    guide = infer.autoguide.AutoDelta(poutine.block(mixture, expose=["share"]))
    svi = infer.SVI(
        mixture,
        guide,
        pyro.optim.Adam({"lr": 0.1}),
        infer.TraceEnum_ELBO(max_plate_nesting=1),
    )
    emit(steps=[svi.step(X[:, 0]) for _ in range(5)])


globals()[sys.argv[1]]()
