"""One captured graph, and the ``with`` block that captures it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from .. import _C
from . import _where
from ._hooks import HookedGraph

_MODES = ("global", "thread_local", "relaxed")
_EMPTY = (
    "The CUDA Graph is empty. This usually means that the graph was attempted "
    "to be captured on wrong device or stream."
)
_RAW = "You cannot access the raw cudaGraph_t instance {} {}"
_KEEP = "CUDAGraph was initialized with keep_graph=true"
_ENDED = "capture_end() has been called"


def check_mode(mode: str) -> None:
    """ValueError for what is no capture error mode of PyTorch's."""
    if mode not in _MODES:
        raise ValueError(
            "Unknown capture error mode. "
            f"Expected `global`, `thread_local`, or `relaxed`, got {mode}"
        )


class Graph(HookedGraph):
    """Calls that are captured once and replayed as often as one likes.

    Tensors that the captured code reads keep their memory and may be given new
    values between replays; results of the capture that are still referred to
    when it ends are overwritten by every replay. ``replay()`` is thread-safe:
    replays of one graph, or of graphs that share a pool, follow one another.

    Args:
        keep_graph: ``instantiate()`` is called by the user (or by the first
            ``replay()``), as in PyTorch.
        without: names of optimisations to leave out, see :func:`passes`.
        bitwise: leaves out all that change the rounding of results.
    """

    def __init__(
        self,
        keep_graph: bool = False,
        *,
        without: Sequence[str] = (),
        bitwise: bool = False,
    ) -> None:
        super().__init__(list(without), bool(bitwise))
        self._keep_graph = keep_graph
        self._on = None

    def _device(self):
        """Whose current stream it captures; None is the CPU."""
        return self._on

    def capture_begin(
        self,
        pool: _C.GraphPool | None = None,
        capture_error_mode: str = "global",
        check_input_liveness: bool = False,
    ) -> None:
        """From now on this thread's calls are recorded and not run.

        The current stream must be a queued one. The pool is another graph's
        ``pool()`` or a ``graph_pool_handle()``: graphs that share one never
        run at the same time and take the memory of the largest. The error mode
        changes nothing: only the capturing thread is restricted.

        Raises:
            RuntimeError: the graph was captured already, the stream is the
                default one, or another capture goes on here.
        """
        check_mode(capture_error_mode)
        if isinstance(pool, _C._Graph):
            pool = pool.pool()
        elif pool is not None and hasattr(pool, "_graph_pool"):  # a cuda.MemPool
            pool = pool._graph_pool()
        self._capture_begin(pool, self._device())
        self._began()

    def capture_end(self) -> None:
        """Ends the capture and makes the graph ready to run.

        Raises:
            RuntimeError: without ``capture_begin()``, on another stream, or
                where streams that joined the capture were not joined again.
        """
        self._end(3)

    def _end(self, level: int) -> None:
        self._capture_end()
        if not self._recorded():
            warnings.warn(_EMPTY, stacklevel=level)
        self._fire("capture_end")
        if self._keep_graph:
            self._unmade = True
        else:
            self._made()

    def instantiate(self) -> None:
        """For ``keep_graph=True``: makes what replays launch anew from the
        ``CUgraph`` behind it, which somebody may have changed.
        """
        if not self._captured():
            raise RuntimeError(
                "capture_end() must have been called before calling instantiate"
            )
        if not self._keep_graph:
            raise RuntimeError(
                "instantiate() is intended to be called by the user only when "
                "keep_graph=true"
            )
        self._instantiate()
        self._made()

    def raw_cuda_graph(self) -> int:
        """The ``CUgraph`` behind it, as a number; it lives as long as this
        graph, or until it has to be made anew because memory moved.

        Raises:
            RuntimeError: without ``keep_graph=True``, before the capture
                ended, for a graph of the CPU, and where calls that CUDA cannot
                capture cut it into several.
        """
        if not self._keep_graph:
            raise RuntimeError(_RAW.format("unless", _KEEP))
        if not self._captured():
            raise RuntimeError(_RAW.format("until", _ENDED))
        return self._raw_graph()[0]

    def raw_cuda_graph_exec(self) -> int:
        """The ``CUgraphExec`` that replays launch, as a number; the same goes
        for it. ``instantiate()`` makes another one.

        Raises:
            RuntimeError: before the capture ended, and as `raw_cuda_graph`.
        """
        if not self._captured():
            raise RuntimeError(
                "You cannot access the raw cudaGraphExec_t instance until "
                "instantiate() has been called"
            )
        return self._raw_graph()[1]

    def reset(self) -> None:
        """Back to how it was made; results keep their memory and values."""
        self._lost()
        self._reset()

    def pool(self) -> _C.GraphPool:
        """For graphs that are to share its memory."""
        return self._pool()

    def enable_debug_mode(self) -> None:
        """Changes nothing: what ``debug_dump`` needs is always kept."""

    def debug_dump(self, debug_path, *, verbose: bool = True) -> None:
        """Writes the calls as a drawing of Graphviz.

        With a path that ends in ``.json``: runs the graph once, call by call,
        and writes a trace for ui.perfetto.dev and chrome://tracing.
        """
        from . import _dump

        _dump.dump(self, debug_path, verbose)


class CUDAGraph(Graph):
    """Captures a stream of the current CUDA device; of the CPU where there is
    none, so that programs for a GPU run there, too.
    """

    def _device(self):
        if self._on is None and _C._device_count("cuda"):
            return _C.device("cuda", _C._cuda_current_device())
        return self._on


class graph:  # noqa: N801
    """Captures a ``with`` block into a graph.

    An exception inside ends the capture without a graph and leaves stream and
    generator as they were; where it is about something that cannot be captured
    its text names the line.

    Args:
        cuda_graph: a :class:`Graph` that was not captured yet.
        pool: see :meth:`Graph.capture_begin`.
        stream: a queued stream to capture; by default one for this block.
        enable_annotations: changes nothing, `cuda.graph_annotations` keeps none.
        check_input_liveness: changes nothing, as what is read keeps its memory.
    """

    def __init__(
        self,
        cuda_graph: Graph,
        pool: _C.GraphPool | None = None,
        stream: _C.Stream | None = None,
        capture_error_mode: str = "global",
        enable_annotations: bool = False,
        check_input_liveness: bool = False,
    ) -> None:
        # PyTorch's torch.cuda.graph calls it so.
        self.cuda_graph = cuda_graph
        self._pool = pool
        self._stream = stream
        self._mode = capture_error_mode
        self._previous: _C.Stream | None = None

    def __enter__(self) -> None:
        captured = self.cuda_graph
        if self._stream is not None:
            captured._on = self._stream.device
        device = captured._device()
        previous = _C._current_stream(device)
        # Amid a capture it stays: the beginning of another is refused there.
        if not _C.is_current_stream_capturing():
            stream = self._stream
            _C._set_stream(_C.Stream(device) if stream is None else stream)
        try:
            self.cuda_graph.capture_begin(self._pool, self._mode)
        except BaseException:
            _C._set_stream(previous)
            raise
        self._previous = previous

    def __exit__(self, kind, error, traceback) -> None:
        try:
            if error is None:
                self.cuda_graph._end(3)
            else:
                self.cuda_graph._abandon()
                _where.add_line(error, traceback)
        finally:
            self.cuda_graph._abandon()
            _C._set_stream(self._previous)


def graph_pool_handle() -> _C.GraphPool:
    """A new pool, for graphs that are to share memory."""
    return _C.GraphPool()


def passes() -> list[tuple[str, str, bool]]:
    """The optimisations: name, what it does, whether results stay exact."""
    return _C._graph_passes()
