"""How a case of the tests of distributions, an expression, is evaluated."""

from __future__ import annotations

import inspect
import math

import outcomes


def cases(*tables: list[str]) -> dict:
    """Expressions by their own text; see `expression` for what they may use."""
    return {text: expression(text) for table in tables for text in table}


def expression(text: str):
    """A case that evaluates `text`.

    The text may use these names, and those that `distributions` exports:

    T, D    the library and its `distributions`
    C       its constraints
    t(..)   float64 tensors
    f(..)   float32 tensors
    l(..)   int64 tensors
    x(2, 3) fixed float64 numbers of that shape between -1 and 1
    facts, density, draws, widened, passed: the functions below
    """

    def run(lib):
        package = lib.distributions
        scope = {n: getattr(package, n) for n in package.__all__}
        scope |= {"T": lib, "D": package, "C": package.constraints}
        scope |= {"inf": math.inf, "nan": math.nan}
        scope["t"] = lambda data: lib.tensor(data, dtype=lib.float64)
        scope["f"] = lib.tensor
        scope["l"] = lambda data: lib.tensor(data, dtype=lib.int64)
        scope["x"] = lambda *shape, start=0: outcomes.tensor(
            lib, *shape, start=start, dtype=lib.float64
        )
        for name, function in _FUNCTIONS.items():
            scope[name] = lambda *a, f=function: f(lib, *a)
        return eval(text, scope)

    return run


def _tried(function):
    """The result, or the type and text of what is raised instead."""
    try:
        return function()
    except (NotImplementedError, ValueError, AssertionError) as error:
        return [type(error).__name__, str(error)]


def facts(lib, d):
    """Lists what a distribution says of itself."""
    names = "mean", "mode", "variance", "stddev"
    found = {name: _tried(lambda n=name: getattr(d, n)) for name in names}
    found["entropy"] = _tried(d.entropy)
    return [
        repr(d),
        repr(_tried(lambda: d.support)),
        list(d.batch_shape),
        list(d.event_shape),
        d.has_rsample,
        d.has_enumerate_support,
        found,
    ]


def _parameters(make) -> dict:
    """Defaults of a function, which are the parameters to have gradients."""
    signature = inspect.signature(make)
    return {n: p.default for n, p in signature.parameters.items()}


def density(lib, make, value):
    """log_prob, cdf, icdf and entropy with their gradients.

    `make` is a function whose arguments' defaults are the parameters.
    """
    given = _parameters(make)
    results = []
    for call in (
        lambda d: d.log_prob(value),
        lambda d: d.cdf(value),
        lambda d: d.icdf(d.cdf(value)),
        lambda d: d.entropy(),
    ):
        leaves = [v.detach().clone().requires_grad_() for v in given.values()]
        d = make(*leaves)
        try:
            result = call(d)
        except NotImplementedError as error:
            results.append(["NotImplementedError", str(error)])
            continue
        wanted = [leaf for leaf in leaves if result.requires_grad]
        grads = wanted and lib.autograd.grad(result.sum(), wanted, allow_unused=True)
        results.append([result, list(grads)])
    return results


def draws(lib, make):
    """Draws without gradients, and with those in the parameters."""
    given = _parameters(make)
    leaves = [v.detach().clone().requires_grad_() for v in given.values()]
    d = make(*leaves)
    found = [d.sample((3,)), d.sample()]
    if d.has_rsample:
        drawn = d.rsample((2,))
        grads = lib.autograd.grad(drawn.pow(2).sum(), leaves, allow_unused=True)
        found += [drawn, list(grads)]
    return found


def widened(lib, d, value):
    """A distribution expanded: as text, its shapes, moments and densities."""
    wide = d.expand((2, *d.batch_shape))
    return [
        repr(wide),
        list(wide.batch_shape),
        list(wide.event_shape),
        wide.log_prob(value),
        _tried(lambda: wide.mean),
        type(wide).__name__,
    ]


def passed(lib, transform, value):
    """A transform: its text, sets, values there and back, and Jacobian."""
    y = transform(value)
    back = transform.inv(y)
    return [
        repr(transform),
        repr(transform.inv),
        repr(transform.domain),
        repr(transform.codomain),
        transform.bijective,
        _tried(lambda: transform.sign),
        y,
        back,
        _tried(lambda: transform.log_abs_det_jacobian(value, y)),
        list(transform.forward_shape(value.shape)),
        list(transform.inverse_shape(y.shape)),
        transform.with_cache(1) == transform,
    ]


_FUNCTIONS = {f.__name__: f for f in (facts, density, draws, widened, passed)}
