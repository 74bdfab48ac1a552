"""Tables of vectors that are looked up by index."""

from __future__ import annotations

from ... import Tensor, empty, no_grad
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module


def check_weight(weight: Tensor, shape: list[int]) -> None:
    if list(weight.shape) != shape:
        raise AssertionError(
            "Shape of weight does not match num_embeddings and embedding_dim"
        )


class _Table(Module):
    """The weight (V, E) of both look-ups; standard normal at first."""

    def _make_weight(self, weight, freeze: bool, device, dtype) -> None:
        shape = [self.num_embeddings, self.embedding_dim]
        if weight is None:
            data = empty(shape, device=device, dtype=dtype)
            self.weight = Parameter(data, requires_grad=not freeze)
            self.reset_parameters()
            return
        check_weight(weight, shape)
        self.weight = Parameter(weight, requires_grad=not freeze)

    @staticmethod
    def _padding_row(
        padding_idx: int | None, rows: int, text: str = "Padding_idx"
    ) -> int | None:
        if padding_idx is None:
            return None
        if not -rows <= padding_idx < rows:
            raise AssertionError(f"{text} must be within num_embeddings")
        return padding_idx if padding_idx >= 0 else padding_idx + rows

    def reset_parameters(self) -> None:
        """Standard normal draws; the padding row is 0."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def _options(self, **defaults) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        for name, default in defaults.items():
            value = getattr(self, name)
            if value != default:
                text += f", {name}={value}"
        return text


class Embedding(_Table):
    """Rows of a table: integers (*) -> (*, embedding_dim).

    Args:
        padding_idx: a row that starts as 0 and is never trained.
        max_norm, norm_type: rows are scaled down to this norm when looked up.
        scale_grad_by_freq: divides gradients by how often a row occurs.
        sparse: whether the gradient of the weight is sparse, of the rows that
            were looked up: for `SGD`, `Adagrad` and `SparseAdam`.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = self._padding_row(padding_idx, num_embeddings)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        self._make_weight(_weight, _freeze, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        text = self._options(
            padding_idx=None, max_norm=None, norm_type=2, scale_grad_by_freq=False
        )
        return text + (", sparse=True" if self.sparse else "")

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """A table of given vectors (V, E), trained only without `freeze`."""
        _need_matrix(embeddings)
        rows, columns = embeddings.shape
        return cls(
            rows,
            columns,
            _weight=embeddings,
            _freeze=freeze,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )


class EmbeddingBag(_Table):
    """Sum, mean or maximum of bags of rows; see `functional.embedding_bag`."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = self._padding_row(padding_idx, num_embeddings, "padding_idx")
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset
        self._make_weight(_weight, False, device, dtype)

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        text = self._options(max_norm=None, norm_type=2, scale_grad_by_freq=False)
        text += f", mode={self.mode!r}"
        return text + (
            "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """A table of given vectors (V, E), trained only without `freeze`."""
        _need_matrix(embeddings)
        rows, columns = embeddings.shape
        bag = cls(
            rows,
            columns,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            _weight=embeddings,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        bag.weight.requires_grad = not freeze
        return bag


def _need_matrix(embeddings: Tensor) -> None:
    if embeddings.dim() != 2:
        raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
