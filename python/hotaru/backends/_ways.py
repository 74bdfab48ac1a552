"""Which algorithms calls take, and why not the earlier ones."""

from __future__ import annotations

import dataclasses

from .._late import lent


@dataclasses.dataclass(frozen=True)
class Way:
    """One algorithm of a kernel beside one call.

    Attributes:
        name: what it is called.
        what: what it does, in a line.
        runs: whether the call takes it: the first that serves it and pays.
        why_not: for those before the one that runs, what the call lacks.
    """

    name: str
    what: str
    runs: bool
    why_not: str

    def __str__(self) -> str:
        if self.runs:
            return f"  runs   {self.name}: {self.what}"
        if self.why_not:
            return f"  not    {self.name}: needs {self.why_not}"
        return f"  behind {self.name}: {self.what}"


@dataclasses.dataclass(frozen=True)
class Call:
    """A kernel's call, with the algorithms of the kernel in their order; none
    where the kernel has one for everything.
    """

    kernel: str
    ways: tuple[Way, ...]

    @property
    def runs(self) -> str | None:
        """The name of the algorithm that it takes."""
        return next((way.name for way in self.ways if way.runs), None)

    def __str__(self) -> str:
        return "\n".join([self.kernel, *map(str, self.ways)])


def ways(function, *args, graphed: bool = False, **kwargs) -> list[Call]:
    """The calls of kernels that ``function(*args, **kwargs)`` makes on the CPU,
    each with the algorithms it chooses from. Nothing is computed: the function
    is captured, so what it decides by values is an error.

    Args:
        function: an operator, a module, or any function of tensors.
        graphed: tells of the calls that a graph's passes leave.

    Raises:
        RuntimeError: the function cannot be captured; the text says why.
    """
    graphs = lent("graphs")
    without = () if graphed else [name for name, _, _ in graphs.passes()]
    captured = graphs.Graph(without=without)
    with graphs.graph(captured):
        # Held until the capture ends: what nobody wants is left out.
        result = function(*args, **kwargs)
    del result
    return [
        Call(kernel, tuple(Way(*way) for way in found))
        for kernel, found in captured._ways()
    ]
