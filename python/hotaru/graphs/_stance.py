"""Stance that says what all functions that run as graphs do for now."""

from __future__ import annotations

import functools
import weakref

STANCES = (
    "default",
    "force_eager",
    "eager_on_recompile",
    "fail_on_recompile",
    "eager_then_compile",
    "aot_eager_then_compile",
)

# Every `Graphed` that is alive.
everyone: weakref.WeakSet = weakref.WeakSet()
_now = "default"


def now() -> str:
    return _now


def _change(stance: str) -> None:
    global _now
    _now = stance
    for graphed in list(everyone):
        # The native side goes straight to the graph of the last call.
        graphed._forget_last()


def forget_all() -> None:
    """All graphs are captured again."""
    for graphed in list(everyone):
        graphed._acquire()
        try:
            graphed._forget()
        finally:
            graphed._release()


class set_stance:  # noqa: N801 - PyTorch's name
    """Says what functions of `compile` do from now on; as a context or a
    decorator, only inside.

    Args:
        stance: "default"; "force_eager": run without graphs;
            "eager_on_recompile": run without where a graph is missing;
            "fail_on_recompile": RuntimeError there; "eager_then_compile": the
            first call runs without.
        skip_guard_eval_unsafe: accepted; graphs check their calls natively.
        force_backend: "eager", which is the stance "force_eager".
    """

    def __init__(
        self,
        stance: str = "default",
        *,
        skip_guard_eval_unsafe: bool = False,
        force_backend: str | None = None,
    ) -> None:
        if stance not in STANCES:
            raise RuntimeError(
                f"invalid torch.compile stance: {stance!r}; there are "
                f"{', '.join(STANCES)}"
            )
        if force_backend is not None:
            if stance != "default":
                raise RuntimeError("force_backend is for the stance 'default' alone")
            if force_backend != "eager":
                raise RuntimeError(
                    f"set_stance: cannot force the backend {force_backend!r}; "
                    "it is chosen when a function is compiled, but for 'eager'"
                )
            stance = "force_eager"
        self._before, self._stance = now(), stance
        _change(stance)

    def __call__(self, fn):
        _change(self._before)

        @functools.wraps(fn)
        def inside(*args, **kwargs):
            with set_stance(self._stance):
                return fn(*args, **kwargs)

        return inside

    def __enter__(self) -> None:
        _change(self._stance)

    def __exit__(self, *exception) -> None:
        _change(self._before)
