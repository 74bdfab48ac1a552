"""Functions that are compiled, by the names of PyTorch's tracer."""

from __future__ import annotations

from ..compiler import disable, set_stance
from ..graphs._compile import OptimizedModule, compile

__all__ = [
    "OptimizedModule",
    "disable",
    "explain",
    "export",
    "is_dynamo_supported",
    "optimize",
    "run",
]


def is_dynamo_supported() -> bool:
    """Tells whether `compile` runs here: everywhere."""
    return True


def optimize(backend="graphs", *, nopython: bool = False, **options):
    """A decorator that compiles; `nopython` makes refusals errors."""
    kept = {k: options[k] for k in ("dynamic", "disable") if k in options}
    return compile(backend=backend, fullgraph=nopython, **kept)


def run(fn=None):
    """A function that runs the graphs that there are, and makes none."""
    if fn is None:
        return run
    return set_stance("eager_on_recompile")(fn)


def _no_trace(name: str, instead: str):
    raise NotImplementedError(
        f"torch._dynamo.{name}: hotaru captures graphs while functions run and "
        f"traces no Python code; {instead}"
    )


def explain(f, *extra_args, **extra_kwargs):
    """NotImplementedError: there are no traces to explain."""
    _no_trace("explain", "compile(fn, fullgraph=True) says what has no graph")


def export(f, *extra_args, **extra_kwargs):
    """NotImplementedError: use `fx` or `jit`."""
    _no_trace("export", "torch.fx.symbolic_trace and torch.jit.trace give programs")
