"""An observer of the distribution of numbers."""

from __future__ import annotations

import warnings

import hotaru

from ... import nn
from ._observing import _EPS, UniformQuantizationObserverBase
from .utils import is_per_tensor

# Bins of a histogram are cut into so many before they move into wider ones.
_UPSAMPLE_RATE = 16
# Step by which the search takes quantiles away at either end.
_STEP = 1e-5


class HistogramObserver(UniformQuantizationObserverBase):
    """A histogram of all inputs; of its range the part is kept whose
    quantisation makes the least square error.

    Args:
        bins: of the histogram.
    """

    def __init__(
        self,
        bins: int = 2048,
        dtype=hotaru.quint8,
        qscheme=hotaru.per_tensor_affine,
        reduce_range=False,
        quant_min=None,
        quant_max=None,
        factory_kwargs=None,
        eps=_EPS,
        is_dynamic=False,
        **kwargs,
    ) -> None:
        if not is_per_tensor(qscheme):
            raise NotImplementedError(
                "HistogramObserver's qscheme only support torch.per_tensor_"
                "symmetric                     and torch.per_tensor_affine."
            )
        if is_dynamic:
            raise NotImplementedError(
                "HistogramObserver doesn't support dynamic quantization"
            )
        super().__init__(
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            factory_kwargs=factory_kwargs,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )
        options = nn.factory_kwargs(factory_kwargs)
        inf = float("inf")
        self.bins = bins
        self.register_buffer("histogram", hotaru.zeros(bins, **options))
        self.register_buffer("min_val", hotaru.tensor(inf, **options))
        self.register_buffer("max_val", hotaru.tensor(-inf, **options))
        self.dst_nbins = 2 ** (8 * self.dtype.itemsize)
        self.upsample_rate = _UPSAMPLE_RATE

    def _nothing_seen(self) -> bool:
        return bool(self.min_val == float("inf") and self.max_val == float("-inf"))

    # -- looking -----------------------------------------------------------

    def forward(self, x_orig):
        x = x_orig.detach()
        if x.numel() == 0:
            return x_orig
        least, greatest = hotaru.aminmax(x)
        if least == float("-inf") or greatest == float("inf"):
            warnings.warn(
                "torch.inf detected in input tensor, ignoring input", stacklevel=2
            )
            x = x[x.abs() != float("inf")]
            if x.numel() == 0:
                return x_orig
            least, greatest = hotaru.aminmax(x)
        if self._nothing_seen():
            self.reset_histogram(x, least, greatest)
            return x_orig
        low = hotaru.min(self.min_val, least)
        high = hotaru.max(self.max_val, greatest)
        seen = self._histogram_of(x, low, high)
        self.histogram.copy_(
            self._combine_histograms(
                self.histogram, self.min_val, self.max_val, seen, low, high
            )
        )
        self.min_val.copy_(low)
        self.max_val.copy_(high)
        return x_orig

    def reset_histogram(self, x, min_val, max_val) -> None:
        """Starts anew, with the elements of x."""
        self.min_val.resize_(min_val.shape).copy_(min_val)
        self.max_val.resize_(max_val.shape).copy_(max_val)
        found = self._histogram_of(x, min_val, max_val)
        self.histogram.resize_(found.shape).copy_(found)

    def _histogram_of(self, x, low, high):
        return hotaru.histc(x, self.bins, min=low.item(), max=high.item())

    def _combine_histograms(
        self, orig_hist, orig_min, orig_max, update_hist, update_min, update_max
    ):
        """The sum of two histograms, in the range of the second, which
        includes that of the first.
        """
        if update_min == orig_min and update_max == orig_max:
            return orig_hist + update_hist
        if orig_min == orig_max:
            place = self._histogram_of(orig_min.reshape(1), update_min, update_max)
            return place * orig_hist.sum() + update_hist
        if not (update_min <= orig_min and update_max >= orig_max):
            raise AssertionError("the new range must include the old one")
        return update_hist + self._upscale_histogram(
            orig_hist, orig_min, orig_max, update_min, update_max
        )

    def _upscale_histogram(self, histogram, orig_min, orig_max, update_min, update_max):
        """A histogram in the bins of a wider range: parts of each bin go
        where their middles lie.
        """
        parts = self.bins * self.upsample_rate
        weights = histogram.repeat_interleave(self.upsample_rate)
        weights = weights / self.upsample_rate
        width = (orig_max - orig_min) / parts
        low, high = orig_min.item(), orig_max.item()
        middles = hotaru.linspace(low, high, parts + 1)[:-1] + 0.5 * width
        ends = hotaru.linspace(update_min.item(), update_max.item(), self.bins + 1)
        bins = hotaru.bucketize(middles, ends, right=True) - 1
        return hotaru.bincount(
            bins.clamp(0, self.bins - 1), weights, minlength=self.bins
        )

    # -- searching ---------------------------------------------------------

    def calculate_qparams(self):
        if self._nothing_seen():
            warnings.warn(
                "must run observer before calling calculate_qparams.           "
                "                         Returning default scale and zero "
                "point ",
                stacklevel=2,
            )
            device = self.min_val.device
            return (
                hotaru.tensor([1.0], device=device),
                hotaru.tensor([0], device=device),
            )
        if self.bins != len(self.histogram):
            raise AssertionError(
                "The number of bins in histogram should be equal to the number "
                "of bins supplied while making this observer"
            )
        return self._calculate_qparams(*self._non_linear_param_search())

    def _non_linear_param_search(self):
        """The range that is left when quantiles are cut from the emptier end,
        for as long as the error falls.
        """
        width = (self.max_val - self.min_val) / self.bins
        sums = hotaru.cumsum(self.histogram, 0).tolist()
        total = hotaru.sum(self.histogram).item()
        below, above = 0.0, 1.0
        first, last = 0, self.bins - 1
        least = float("inf")
        while below < above:
            left, right = first, last
            while left < last and sums[left] < (below + _STEP) * total:
                left += 1
            while right > first and sums[right] > (above - _STEP) * total:
                right -= 1
            if left - first > last - right:
                below += _STEP
                next_first, next_last = left, last
            else:
                above -= _STEP
                next_first, next_last = first, right
            if (next_first, next_last) == (first, last):
                continue
            error = self._compute_quantization_error(next_first, next_last)
            if error > least:
                break
            least, first, last = error, next_first, next_last
        return self.min_val + width * first, self.min_val + width * (last + 1)

    def _compute_quantization_error(self, first: int, last: int) -> float:
        """The sum of square distances to the middles of `dst_nbins` intervals
        that divide bins first...last, for numbers spread evenly in each bin.
        """
        width = (self.max_val - self.min_val).item() / self.bins
        step = width * (last - first + 1) / self.dst_nbins
        if step == 0.0:
            return 0.0
        begin = (hotaru.arange(self.bins) - first) * width
        end = begin + width
        at_begin, at_end = (
            hotaru.clamp(
                hotaru.div(x, step, rounding_mode="floor"), 0, self.dst_nbins - 1
            )
            for x in (begin, end)
        )
        density = self.histogram / width
        half = step / 2
        # From the bin's begin to its first interval's end, whole intervals in
        # between, and from the last one's begin to the bin's end.
        error = self._get_norm(begin - (at_begin + 0.5) * step, half, density)
        error = error + (at_end - at_begin - 1) * self._get_norm(-half, half, density)
        error = error + self._get_norm(-half, end - (at_end * step + half), density)
        return error.sum().item()

    def _get_norm(self, delta_begin, delta_end, density):
        """The integral of x² times the density."""
        return density * (delta_end**3 - delta_begin**3) / 3

    # -- state -------------------------------------------------------------

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, *rest
    ) -> None:
        version = local_metadata.get("version", None)
        if version is None or version < 3:
            # Written when the ends were tensors of one dimension.
            for name in ("min_val", "max_val"):
                value = state_dict.get(prefix + name)
                if value is not None and value.shape == (1,):
                    state_dict[prefix + name] = value.reshape(())
        for name, value in self.named_buffers(recurse=False):
            given = state_dict.get(prefix + name)
            if given is not None and name != "eps":
                value.resize_(given.shape)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, *rest
        )

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"
