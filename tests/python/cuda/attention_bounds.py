"""Attention in double, and how far off sums in float may be.

Sums of n products are off by about sqrt(n) roundoffs of their magnitudes
(Higham and Mary, "A new approach to probabilistic rounding error analysis",
2019), which is doubled as it is no strict bound; what follows from the errors
of scores is carried on to first order. Tensor cores take what is multiplied in
16 bits: weights, of which the largest of a row is about 1 when out is summed
and which are divided by their sum in gradients, and slopes are rounded.
"""

from __future__ import annotations

import math

from nearness import ROUNDOFF, name_of

U = ROUNDOFF["float32"]
# Half of the smallest number of each dtype that is not normal.
TINY = {"float32": 2.0**-150, "float16": 2.0**-25, "bfloat16": 2.0**-134}


class Bounds:
    """Bounds of out and gradients of query, key and value, of 4 dimensions.

    Args:
        t: the library.
        tensors: query, key, value and the gradient of out, as the kernel has
            them, in double.
        mask: added to the scores, in double; or None.
        dtype: the kernel's.
    """

    def __init__(self, t, tensors, mask, scale, dtype) -> None:
        q, k, v, g = tensors
        narrow = name_of(dtype) != "float32"
        self.own, self.tiny = ROUNDOFF[name_of(dtype)], TINY[name_of(dtype)]
        group = q.shape[1] // k.shape[1]
        shared = k.shape
        k, v = (x.repeat_interleave(group, 1) for x in (k, v))

        def join(x):
            return x.reshape(*shared[:2], group, *x.shape[2:]).sum(2)

        def sums(n):
            return 2 * math.sqrt(n) * U

        keys, rows = k.shape[2], group * q.shape[2]
        sizes = scale * (q.abs() @ k.abs().mT)
        scores = scale * (q @ k.mT)
        of_scores = (sums(q.shape[3] + 2) + U) * sizes
        if mask is not None:
            scores = scores + mask
            known = mask.clamp(min=-1e30).masked_fill(mask == -math.inf, 0)
            of_scores = of_scores + U * known.abs()
        seen = scores > -math.inf
        top = scores.masked_fill(~seen, 0).abs().amax(-1, keepdim=True)
        of_scores = of_scores.masked_fill(~seen, 0).amax(-1, keepdim=True)
        # A weight's own: of its score, of the row's sum, of the exponent's
        # difference, of exp, log and the sum itself.
        part = 2 * of_scores + 4 * U * top + 8 * U + sums(keys)
        weights = t.softmax(scores, -1).nan_to_num(0)

        def rounded(x):
            return narrow * (self.own * x.abs() + self.tiny)

        out = weights @ v
        self.out = part * (weights @ v.abs()) + self.own * out.abs()
        self.out = self.out + rounded(weights) @ v.abs()
        slopes = g @ v.mT
        delta = (g * out).sum(-1, keepdim=True)
        of_delta = (g.abs() * self.out).sum(-1, keepdim=True) + sums(v.shape[3]) * (
            g * out
        ).abs().sum(-1, keepdim=True)
        grads = weights * (slopes - delta)
        of_grads = part * grads.abs() + weights * (
            sums(v.shape[3]) * (g.abs() @ v.abs().mT) + of_delta
        )
        self.query = (
            scale * (of_grads + sums(keys + 2) * grads.abs() + rounded(grads)) @ k.abs()
            + self.own * scale * (grads @ k).abs()
        )
        of_keys = of_grads + sums(rows + 2) * grads.abs() + rounded(grads)
        self.key = (
            join(scale * of_keys.mT @ q.abs())
            + self.own * join(scale * grads.mT @ q).abs()
        )
        self.value = (
            join((weights * (part + sums(rows)) + rounded(weights)).mT @ g.abs())
            + self.own * join(weights.mT @ g).abs()
        )

    def check(self, got, want) -> None:
        """Raises AssertionError unless four results are near enough."""
        for name, x, y in zip(("out", "query", "key", "value"), got, want):
            assert x.shape == y.shape, name
            if x.numel() == 0:
                continue
            bound = 1.01 * getattr(self, name) + self.tiny
            excess = (x.cpu().double() - y).abs() - bound
            assert not excess.isnan().any(), name
            assert float(excess.max()) <= 0, (name, float(excess.max()))
