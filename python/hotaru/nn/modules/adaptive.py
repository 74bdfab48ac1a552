"""The adaptive softmax (Grave et al. 2017, arXiv 1609.04309)."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence

from ... import Tensor
from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """A softmax over many classes, of which the first are the frequent ones.

    The head tells the first `cutoffs[0]` classes and the clusters apart. A
    cluster goes from a cutoff to the next; its input is smaller than that of
    the one before by `div_value`.

    Args:
        in_features: size of an input.
        n_classes: how many classes.
        cutoffs: where clusters begin, increasing, within 1 and n_classes - 1.
        div_value: by how much inputs of clusters become smaller.
        head_bias: whether the head has a bias.

    Raises:
        ValueError: cutoffs that are none.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        cutoffs = _checked(list(cutoffs), n_classes)
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        options = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, head_bias, **options)
        self.tail = ModuleList()
        sizes = zip(self.cutoffs, self.cutoffs[1:])
        for i, (first, behind) in enumerate(sizes):
            inner = int(in_features // div_value ** (i + 1))
            self.tail.append(
                Sequential(
                    Linear(in_features, inner, bias=False, **options),
                    Linear(inner, behind - first, bias=False, **options),
                )
            )

    def reset_parameters(self) -> None:
        """Draws the head's parameters, then those of the clusters."""
        self.head.reset_parameters()
        for cluster in self.tail:
            for linear in cluster:
                linear.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """Log probabilities of the targets, and the mean loss.

        Shapes: input (N, in_features), target (N) -> output (N), loss ();
        without N: (in_features), () -> (), ().

        Raises:
            RuntimeError: shapes that do not fit, or targets that are no class.
        """
        _check_shapes(input_, target_)
        if target_.dim() == 0:
            output, loss = self._of_batch(input_.unsqueeze(0), target_.unsqueeze(0))
            return _ASMoutput(output.squeeze(0), loss)
        return _ASMoutput(*self._of_batch(input_, target_))

    def _of_batch(self, input: Tensor, target: Tensor) -> tuple:
        output = input.new_zeros(target.size(0))
        in_head = target.new_empty(target.size(0))
        found = 0
        bounds = [0, *self.cutoffs]
        for i, (first, behind) in enumerate(zip(bounds, bounds[1:])):
            rows = ((target >= first) & (target < behind)).nonzero().view(-1)
            if rows.numel() == 0:
                continue
            found += rows.numel()
            chosen = target.index_select(0, rows)
            if i == 0:
                in_head.index_copy_(0, rows, chosen)
                continue
            in_head.index_fill_(0, rows, self.shortlist_size + i - 1)
            scores = self.tail[i - 1](input.index_select(0, rows))
            chances = F.log_softmax(scores, dim=1)
            own = chances.gather(1, (chosen - first).unsqueeze(1))
            output.index_copy_(0, rows, own.squeeze(1))
        if found != target.size(0):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but "
                f"values in range [{target.min().item()}, "
                f"{target.max().item()}] were found. "
            )
        chances = F.log_softmax(self.head(input), dim=1)
        output += chances.gather(1, in_head.unsqueeze(1)).squeeze(1)
        return output, (-output).mean()

    def log_prob(self, input: Tensor) -> Tensor:
        """Log probabilities (N, n_classes) of all classes for (N, in)."""
        return self._get_full_log_prob(input, self.head(input))

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        head = F.log_softmax(head_output, dim=1)
        out = input.new_empty((head.size(0), self.n_classes))
        size = self.shortlist_size
        out[:, :size] = head[:, :size]
        bounds = zip(self.cutoffs, self.cutoffs[1:])
        for i, (first, behind) in enumerate(bounds):
            within = F.log_softmax(self.tail[i](input), dim=1)
            out[:, first:behind] = within + head[:, size + i].unsqueeze(1)
        return out

    def predict(self, input: Tensor) -> Tensor:
        """The likeliest class (N) of each input (N, in_features)."""
        scores = self.head(input)
        output = scores.argmax(dim=1)
        # Only where the head chose a cluster, all classes have to be compared.
        rows = output >= self.shortlist_size
        if rows.any():
            full = self._get_full_log_prob(input[rows], scores[rows])
            output[rows] = full.argmax(dim=1)
        return output


def _checked(cutoffs: list, n_classes: int) -> list:
    if not cutoffs:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    increasing = all(a < b for a, b in zip(cutoffs, cutoffs[1:]))
    within = cutoffs[0] > 0 and cutoffs[-1] <= n_classes - 1
    if not increasing or not within or any(int(c) != c for c in cutoffs):
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted "
            "in an increasing order, where each value is between 1 and "
            "n_classes-1"
        )
    return cutoffs


def _check_shapes(input: Tensor, target: Tensor) -> None:
    rank = target.dim()
    if rank > 1:
        raise RuntimeError(
            "0D or 1D target tensor expected, multi-target not supported"
        )
    if rank == 1 and input.size(0) != target.size(0):
        raise RuntimeError(
            "Input and target should have the same size in the batch dimension."
        )
    if input.dim() != rank + 1:
        raise RuntimeError(
            f"{rank}D target tensor expects {rank + 1}D input tensors, but "
            f"found inputs with size {input.size()}"
        )
