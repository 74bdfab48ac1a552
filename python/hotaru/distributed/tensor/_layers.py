"""Ways of the operators that layers are made of."""

from __future__ import annotations

from ..._C import Tensor, ops
from ._call import WHOLE, Call, R, Way, all_replicated, composed, rule
from ._plan import run
from ._pointwise import SUM
from .placement_types import Shard, _StridedShard


def _ins(call: Call, given: dict) -> tuple:
    """Placements of the tensors, by which they are; whole where not told."""
    return tuple(given.get(id(t), R) for t in call.tensors)


def _embedded(call: Call) -> list[Way]:
    weight, ids = call.get(0, "weight"), call.get(1, "indices")
    ways = [all_replicated(call)]
    for dim in range(ids.dim()):
        ways.append(Way(Shard(dim), _ins(call, {id(ids): Shard(dim)})))
    ways.append(Way(Shard(ids.dim()), _ins(call, {id(weight): Shard(1)})))
    ways.append(Way(SUM, _ins(call, {id(weight): Shard(0)})))
    return ways


def _embed_part(call: Call, parts: list):
    """Rows that another rank has count as zeros, to be added up."""
    weight, ids = parts[0], parts[1]
    spec = call.placed[0]._spec
    begin = row_offset(spec, 0)
    padding = call.get(2, "padding_idx", -1)
    scale = call.get(3, "scale_grad_by_freq", False)
    rows = weight.size(0)
    if rows == spec.shape[0]:
        return ops.embedding(weight, ids, padding, scale, False)
    own = ids - begin
    outside = (own < 0) | (own >= rows)
    padding = padding - begin if begin <= padding < begin + rows else -1
    if rows == 0:
        return weight.new_zeros((*ids.shape, weight.size(1)))
    found = ops.embedding(weight, own.masked_fill(outside, 0), padding, scale, False)
    return found.masked_fill(outside.unsqueeze(-1), 0)


def row_offset(spec, dim: int) -> int:
    """Where this rank's part begins along a dimension."""
    from ._utils import compute_local_shape_and_global_offset

    _, offset = compute_local_shape_and_global_offset(
        spec.shape, spec.mesh, spec.placements
    )
    return offset[dim]


rule("embedding", _embedded, _embed_part)


def _normed(lead) -> object:
    """Dimensions before those that are normalized; parameters are whole."""

    def ways(call: Call) -> list[Way]:
        x = call.tensors[0]
        if call.get(0, "input") is not x:
            return [all_replicated(call)]
        return [
            all_replicated(call),
            *(
                Way(Shard(dim), _ins(call, {id(x): Shard(dim)}))
                for dim in range(lead(call, x))
            ),
        ]

    return ways


def _before_normalized(call: Call, x: Tensor) -> int:
    shape = call.get(1, "normalized_shape")
    return x.dim() - (len(shape) if isinstance(shape, (tuple, list)) else 1)


rule("layer_norm rms_norm native_layer_norm", _normed(_before_normalized))
rule("group_norm native_group_norm", _normed(lambda call, x: 1))
rule(
    "conv1d conv2d conv3d convolution conv_transpose1d conv_transpose2d "
    "conv_transpose3d max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d "
    "avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d "
    "pixel_shuffle pixel_unshuffle upsample_nearest2d",
    _normed(lambda call, x: int(x.dim() > 2)),
)


def _attended(call: Call) -> list[Way]:
    """Every sequence and head is for itself."""
    q, k, v = call.tensors[:3]
    ways = [all_replicated(call)]
    if call.get(4, "dropout_p", 0.0):
        return ways
    for dim in range(q.dim() - 2):
        if k.size(dim) % call.pieces() or q.size(dim) % call.pieces():
            continue
        cut = {id(t): Shard(dim) for t in (q, k, v)}
        mask = call.get(3, "attn_mask")
        if isinstance(mask, Tensor):
            own = dim - (q.dim() - mask.dim())
            if own >= 0 and mask.size(own) != 1:
                cut[id(mask)] = Shard(own)
        ways.append(Way(Shard(dim), _ins(call, cut)))
    return ways


rule("scaled_dot_product_attention", _attended)


@composed("cross_entropy_loss cross_entropy")
def cross_entropy(call: Call):
    """With the classes in parts, each rank sums over its own."""
    logits, target = call.get(0, "self"), call.get(1, "target")
    classes = min(1, logits.dim() - 1)
    by_class = [p == Shard(classes) for p in logits._spec.placements]
    plain_call = (
        len(call.tensors) == 2
        and call.get(5, "label_smoothing", 0.0) == 0
        and not target.is_floating_point()
        and logits.dim() == 2
    )
    in_pieces = any(isinstance(p, _StridedShard) for p in logits.placements)
    if not plain_call or in_pieces or sum(by_class) != 1:
        return run(call, WHOLE)
    ignored = call.get(4, "ignore_index", -100)
    reduction = call.get(3, "reduction", 1)
    return _parallel_loss(logits, target, ignored, reduction)


def _parallel_loss(logits, target, ignored: int, reduction: int):
    from ._history import part, redistributed, whole

    spec = logits._spec
    rest = tuple(R if p == Shard(1) else p for p in spec.placements)
    with_rank = [SUM if p == Shard(1) else p for p in spec.placements]
    most = _most(logits, rest)
    shifted = part(logits) - part(most).unsqueeze(1)
    begin, count = row_offset(spec, 1), shifted.size(1)
    where_target = part(redistributed(target, rest))
    own = where_target - begin
    outside = (own < 0) | (own >= count)
    picked = shifted.gather(1, own.masked_fill(outside, 0).unsqueeze(1))
    picked = picked.squeeze(1).masked_fill(outside, 0)
    like = most._spec

    def summed(local):
        return redistributed(whole(local, like.placed(with_rank)), rest)

    losses = summed(shifted.exp().sum(1)).log() - summed(picked)
    counted = redistributed(target, rest) != ignored
    losses = losses * counted
    if reduction == 0:
        return losses
    total = losses.sum()
    return total / counted.sum() if reduction == 1 else total


def _most(logits, rest):
    """The largest of each row, in all ranks, without history."""
    from ._dtensor_spec import TensorMeta, dense_stride
    from ._history import redistributed, wrap
    from .placement_types import Partial

    spec = logits._spec
    shape = (spec.shape[0],)
    meta = TensorMeta(shape, dense_stride(shape), spec.tensor_meta.dtype)
    local = logits._local_tensor
    largest = (
        local.amax(1)
        if local.size(1)
        else local.new_full((local.size(0),), float("-inf"))
    )
    placed = type(spec)(spec.mesh, spec.placements, meta).placed(
        Partial("max") if p == Shard(1) else p for p in spec.placements
    )
    return redistributed(wrap(largest, placed), rest)
