"""Embeddings whose rows are integers, each with a scale."""

from __future__ import annotations

import hotaru

from ..... import nn
from ....._quantized import products
from .....nn.modules.sparse import check_weight
from .utils import _quantize_weight

__all__ = ["Embedding", "EmbeddingBag", "EmbeddingPackedParams"]

_DTYPES = (hotaru.quint8, hotaru.quint4x2)


class EmbeddingPackedParams(nn.Module):
    """A quantised table, as one part of a state."""

    _version = 1

    def __init__(self, num_embeddings, embedding_dim, dtype=hotaru.quint8) -> None:
        super().__init__()
        if dtype not in _DTYPES:
            raise NotImplementedError(
                "Unsupported dtype on quantized embedding! "
                f"Supports quint8 and quint4x2. Got dtype: {dtype}"
            )
        self.dtype = dtype
        self.set_weight(
            hotaru._empty_per_channel_affine_quantized(
                [num_embeddings, embedding_dim],
                scales=hotaru.ones(num_embeddings, dtype=hotaru.float),
                zero_points=hotaru.zeros(num_embeddings, dtype=hotaru.float),
                axis=0,
                dtype=dtype,
            )
        )

    def set_weight(self, weight) -> None:
        """Keeps a quantised table."""
        self._packed_weight = weight

    def _weight(self):
        return self._packed_weight

    def forward(self, x):
        return x

    def _save_to_state_dict(self, destination, prefix, keep_vars) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        destination[prefix + "_packed_weight"] = self._weight()

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, *rest
    ) -> None:
        self.dtype = state_dict.pop(prefix + "dtype")
        self.set_weight(state_dict.pop(prefix + "_packed_weight"))
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *rest)

    def __repr__(self) -> str:
        return repr(self._weight())


class Embedding(nn.Module):
    """Rows of a table in floats, of integers with a scale for each row."""

    _version = 1
    _FLOAT_MODULE = nn.Embedding

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight=None,
        dtype=hotaru.quint8,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.dtype = dtype
        if _weight is not None:
            check_weight(_weight, [num_embeddings, embedding_dim])
        self._packed_params = EmbeddingPackedParams(
            num_embeddings, embedding_dim, dtype
        )
        if _weight is not None:
            self.set_weight(_weight)

    def forward(self, indices):
        return products.rows(self.weight(), indices)

    def _get_name(self) -> str:
        return "QuantizedEmbedding"

    def extra_repr(self) -> str:
        return (
            f"num_embeddings={self.num_embeddings}, "
            f"embedding_dim={self.embedding_dim}, dtype={self.dtype}, "
            f"qscheme={self.weight().qscheme()}"
        )

    def __repr__(self) -> str:
        return f"{self._get_name()}({self.extra_repr()})"

    def set_weight(self, w) -> None:
        """Takes another quantised table."""
        self._packed_params.set_weight(w)

    def weight(self):
        """The quantised table."""
        return self._packed_params._weight()

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Makes one of a float table that has a qconfig, or that trained."""
        made = cls(
            mod.num_embeddings,
            mod.embedding_dim,
            dtype=(observer := _observer_of(cls, mod)).dtype,
        )
        made.set_weight(_quantize_weight(mod.weight.float(), observer))
        return made


def _observer_of(cls, mod):
    """The observer of a table, which has seen it."""
    observer = getattr(mod, "weight_fake_quant", None)
    if observer is None:
        if type(mod) is not cls._FLOAT_MODULE:
            raise AssertionError(
                f"nnq.{cls.__name__}.from_float only works for "
                f"{cls._FLOAT_MODULE.__name__}"
            )
        from ....quantization.qconfig import float_qparams_weight_only_qconfig

        qconfig = getattr(mod, "qconfig", None)
        qconfig = qconfig or float_qparams_weight_only_qconfig
        observer = qconfig.weight()
    if observer.dtype not in _DTYPES:
        raise AssertionError(
            f"The only supported dtype for nnq.{cls.__name__} is torch.quint8 "
            f"and torch.quint4x2, got {observer.dtype}"
        )
    if observer.qscheme is not hotaru.per_channel_affine_float_qparams:
        raise AssertionError(
            f"{cls.__name__} quantization is only supported with "
            "float_qparams_weight_only_qconfig."
        )
    observer(mod.weight)
    return observer


class EmbeddingBag(Embedding):
    """Sums of rows of a table, bag by bag."""

    _FLOAT_MODULE = nn.EmbeddingBag

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "sum",
        sparse: bool = False,
        _weight=None,
        include_last_offset: bool = False,
        dtype=hotaru.quint8,
    ) -> None:
        super().__init__(num_embeddings, embedding_dim, _weight=_weight, dtype=dtype)
        self.mode = mode
        self.pruned_weights = False
        self.include_last_offset = include_last_offset

    def forward(
        self,
        indices,
        offsets=None,
        per_sample_weights=None,
        compressed_indices_mapping=None,
    ):
        if compressed_indices_mapping is not None:
            raise NotImplementedError(
                "EmbeddingBag: pruned tables (compressed_indices_mapping) are "
                "not there; map the indices before the call"
            )
        found = products.rows(self.weight(), indices.reshape(-1))
        places = hotaru.arange(found.size(0), device=found.device)
        return nn.functional.embedding_bag(
            places.reshape(indices.shape),
            found,
            offsets,
            mode="sum",
            per_sample_weights=per_sample_weights,
            include_last_offset=self.include_last_offset,
        )

    def _get_name(self) -> str:
        return "QuantizedEmbeddingBag"

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Makes one of a float table that has a qconfig, or that trained."""
        made = super().from_float(mod, use_precomputed_fake_quant)
        made.include_last_offset = mod.include_last_offset
        return made
