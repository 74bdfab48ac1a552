"""Cases of draws made of Gamma, Dirichlet, Poisson and binomial draws.

Both libraries draw those by the same stand-ins, of uniform numbers: what is
made of them, in which order and with which gradients, is compared.
"""

from __future__ import annotations

from unittest import mock

from distributions_eval import draws, expression
from distributions_tables import UNDRAWN


def _stand_ins(lib) -> dict:
    def gamma(concentration):
        noise = lib.rand(concentration.shape, dtype=concentration.dtype)
        return concentration * (0.5 + noise)

    def dirichlet(concentration):
        parts = gamma(concentration)
        return parts / parts.sum(-1, True)

    return {
        "gamma": gamma,
        "dirichlet": dirichlet,
        "poisson": gamma,
        "binomial": lambda count, prob: gamma(count * prob),
    }


def _patches(lib) -> list:
    """Where the libraries look their operators up."""
    draw, package = _stand_ins(lib), lib.distributions
    if lib.__name__ == "torch":
        function = mock.Mock(apply=draw["dirichlet"])
        places = [
            (package.gamma, "_standard_gamma", draw["gamma"]),
            (package.dirichlet, "_Dirichlet", function),
            (lib, "poisson", draw["poisson"]),
            (lib, "binomial", draw["binomial"]),
        ]
    else:
        places = [
            (package._gamma, "standard_gamma", draw["gamma"]),
            (package._gamma, "dirichlet", draw["dirichlet"]),
            (package._binary, "poisson", draw["poisson"]),
            (package._binary, "binomial", draw["binomial"]),
        ]
    return [mock.patch.object(*place) for place in places]


def _case(text: str):
    make = expression(text)

    def run(lib):
        patches = _patches(lib)
        for patch in patches:
            patch.start()
        try:
            return draws(lib, make(lib))
        finally:
            for patch in patches:
                patch.stop()

    return run


CASES = {
    made: _case(f"lambda {parameters}: {made}")
    for parameters, made, _ in UNDRAWN
    # PyTorch draws Wishart matrices that are not singular again.
    if "Wishart" not in made
}
