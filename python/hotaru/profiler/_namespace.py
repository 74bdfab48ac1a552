"""torch.ops.profiler: ranges by functions."""

from __future__ import annotations

import types

from ._ranges import Handle


def _record_function_enter(name: str, args: str | None = None) -> Handle:
    """Opens a range; `args` is a text that counts as an input."""
    return Handle(name, () if args is None else (args,))


def _record_function_exit(handle: Handle) -> None:
    """Ends it."""
    handle.close()


namespace = types.SimpleNamespace(
    _record_function_enter=_record_function_enter,
    _record_function_enter_new=_record_function_enter,
    _record_function_exit=_record_function_exit,
)
