"""Names of PyTorch's compiler that keep, or load, what was compiled."""

from __future__ import annotations

__all__ = [
    "PrecompileError",
    "cudagraph_mark_warmup_incomplete",
    "load_compiled_function",
    "nonstrict_trace",
    "precompile",
    "set_enable_guard_collectives",
]


class PrecompileError(RuntimeError):
    """A function that cannot be compiled ahead of its calls."""


_INSTEAD = (
    "hotaru keeps no compiled code of a function: torch.compile captures it "
    "when it is called, torch.export.save keeps its program in a file"
)


def precompile(
    fn,
    *example_inputs,
    backend: str = "inductor",
    tracer: str = "make_fx",
    decompositions: dict | None = None,
) -> tuple[str, bytes]:
    """Raises PrecompileError: there is no code that could be kept."""
    raise PrecompileError(f"torch.compiler.precompile: {_INSTEAD}")


def load_compiled_function(file, *, f_globals=None, external_data=None):
    """Raises NotImplementedError: there is no file that could be loaded."""
    raise NotImplementedError(f"torch.compiler.load_compiled_function: {_INSTEAD}")


def nonstrict_trace(traceable_fn):
    """A function whose Python is not followed: none's is."""
    if not callable(traceable_fn):
        raise AssertionError("nonstrict_trace expects a callable")
    return traceable_fn


def cudagraph_mark_warmup_incomplete() -> None:
    """Returns at once: graphs of `compile` are captured by one call."""


_guard_collectives = False


def set_enable_guard_collectives(enabled: bool) -> bool:
    """Keeps whether processes agree on what is compiled again: each captures
    for itself here. Returns what it was before.
    """
    global _guard_collectives
    before, _guard_collectives = _guard_collectives, enabled
    return before
