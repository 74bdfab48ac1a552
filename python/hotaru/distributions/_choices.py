"""Parameters that are given as probabilities or as logits."""

from __future__ import annotations

from .. import Size, Tensor
from .utils import lazy_property, logits_to_probs, probs_to_logits


class ProbsOrLogits:
    """`probs` and `logits` of which one is given, the other computed."""

    # Set if probabilities are of two values, not along the last dimension.
    _binary = True

    @staticmethod
    def _only_one(probs, logits):
        """The one that is given, else ValueError."""
        if (probs is None) == (logits is None):
            raise ValueError(
                "Either `probs` or `logits` must be specified, but not both."
            )
        return logits if probs is None else probs

    def _store(self, probs, value: Tensor) -> None:
        """Keeps the parameter, as probabilities unless `probs` is None."""
        if probs is None:
            self.logits = value
        else:
            self.probs = value

    @property
    def _param(self) -> Tensor:
        """Parameter that was given, or computed first."""
        given = self.__dict__
        return given["probs"] if "probs" in given else given["logits"]

    def _new(self, *args, **kwargs) -> Tensor:
        return self._param.new(*args, **kwargs)

    @lazy_property
    def logits(self) -> Tensor:
        return probs_to_logits(self.probs, is_binary=self._binary)

    @lazy_property
    def probs(self) -> Tensor:
        return logits_to_probs(self.logits, is_binary=self._binary)

    @property
    def param_shape(self) -> Size:
        return self._param.size()
