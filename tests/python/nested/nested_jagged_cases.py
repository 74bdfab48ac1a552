# ruff: noqa: E501  (a case is one line)
"""Cases of nested tensors with the layout jagged."""

from __future__ import annotations

from nested_scope import JAGGED, cases

_ABOUT = """
s(n), s(holes), s(deep), s(t)
name(repr(n)), name(str(leaf)), name(repr(leaf * 2)), name(repr(holes)), name(repr(t))
s(NT([[1, 2], [3]], layout=J)), s(NT([x(2, 3), x(2, 5)], layout=J))
NT([], layout=J)
NT([x(2, 3), x(3, 5)], layout=J)
NT([x(2), x(2, 5)], layout=J)
NT([x(2).double(), x(2)], layout=J)
NT([torch.tensor(1.0)], layout=J)
s(nest.as_nested_tensor([a, b], layout=J)), s(nest.as_nested_tensor(x(2, 3, 4), layout=J)), nest.as_nested_tensor(x(2, 3, 4), layout=J).offsets()
nest.as_nested_tensor(n)
nest.as_nested_tensor(n, layout=J) is not None
[n.dim(), n.numel(), n.is_nested, str(n.layout), n.size(0), n.size(-1), len(n), n.nbytes, holes.numel(), n.storage_offset(), n.data_ptr()]
name(n.shape), name(n.size()), name(n.stride()), name(t.stride()), name(n.size(1)), name(n.shape[1] * 2)
n.size(5)
[n.values(), n.offsets(), n.lengths(), holes.values(), holes.lengths(), t.values()]
[n._min_seqlen, n._max_seqlen, n._ragged_idx, t._ragged_idx, deep._maybe_max_seqlen, deep._get_max_seqlen()]
j = n.shape[1]; [j == j, j == 3, j >= 2, j == NT([a, b], layout=J).shape[1], j == (n * 2).shape[1], isinstance(j, torch.SymInt)]
n.shape[1] > 5
n.shape[1] < 5
n.unbind(1)
n.item()
bool(n)
n.tolist()
[s(r) for r in n]
"""

_MADE = """
s(nest.nested_tensor_from_jagged(b, torch.tensor([0, 1, 4]))), s(nest.nested_tensor_from_jagged(b, lengths=torch.tensor([1, 3]))), s(nest.nested_tensor_from_jagged(b, torch.tensor([0, 1, 3]), jagged_dim=2))
nest.nested_tensor_from_jagged(b)
nest.nested_tensor_from_jagged(b, torch.tensor([0, 4]), jagged_dim=0)
r = nest.narrow(x(2, 4, 3), 1, torch.tensor([0, 1]), torch.tensor([2, 3]), layout=J); [s(r), r.offsets(), r.lengths()]
s(nest.narrow(x(2, 4, 3), 1, 1, 2, layout=J)), s(nest.narrow(x(2, 4, 3), 0, 1, 1))
nest.narrow(x(2, 4, 3), 1, 1, 2)
nest.narrow(x(2, 4, 3), 2, 0, 1, layout=J)
nest.narrow(a, 1, "x", 1)
s(nest.masked_select(a, torch.tensor([[True, False, True], [False, False, True]]))), nest.masked_select(a, torch.tensor([[False], [True]])).offsets()
[n.to_padded_tensor(0), nest.to_padded_tensor(n, -1.0), n.to_padded_tensor(0, (2, 5, 3)), n.to_padded_tensor(0, (2, 3, 3)), t.to_padded_tensor(0), deep.to_padded_tensor(1)]
holes.to_padded_tensor(0)
s(torch.zeros_like(n)), s(torch.full_like(n, 3.0)), s(torch.ones_like(n, dtype=torch.int64)), torch.randn_like(n).shape == n.shape
n.new_zeros(2, 3)
"""

_SHAPES = """
s(n.clone()), s(t.clone()), s(t.contiguous()), s(holes.contiguous()), s(holes.clone())
s(n.double()), s(n.half()), n.float() is n, n.to("cpu") is n, (n.double()).shape == n.shape
s(n[0]), s(n[-1]), s(n[0, 1]), s(n[..., 0]), s(n[1, ...]), s(n[..., None]), s(deep[..., 0:1]), s(n[0, 0:1])
n[5]
n[:, 0]
n[0:1]
n[None]
s(n.select(0, 0)), s(n.select(2, 0)), s(deep.select(2, 1)), s(t.select(1, 0))
n.select(1, 0)
s(deep.transpose(1, 2)), s(deep.transpose(2, 3)), s(n.mT), s(n.permute(0, 2, 1)), s(deep.permute(0, 3, 2, 1)), s(n.movedim(1, 2))
n.transpose(0, 1)
deep.permute(1, 0, 2, 3)
n.permute(0, 1)
deep.permute(0, 1, 1, 2)
s(n.unsqueeze(1)), s(n.unsqueeze(-1)), s(n.unsqueeze(-1).squeeze(-1)), s(n.squeeze(2)), n.unsqueeze(1)._ragged_idx
n.unsqueeze(0)
n.unsqueeze(5)
n.squeeze(1)
n.squeeze(0)
s(n.view(2, -1, 3, 1)), s(n.view(-1, -1, 3)), s(n.view(n.shape)), s(n.reshape(2, n.shape[1], 3, 1)), s(deep.view(2, -1, 6)), s(deep.reshape(2, -1, 2, 3))
n.view(-1)
n.view(2, -1)
n.view(3, -1, 3)
s(deep.flatten(2, 3)), s(deep.flatten(-2)), s(n.flatten(-1)), s(n.unflatten(-1, [3, 1]))
n.flatten()
n.flatten(1, 2)
s(n.unsqueeze(-1).expand(-1, -1, -1, 5)), s(n.expand(2, n.shape[1], 3)), s(n.expand_as(n))
n.expand(2, 4, 3)
s(n.chunk(3, -1)), s(n.chunk(2, -1)), s(n.chunk(2, 0)), s(n.chunk(1, 0)), s(n.split(1, -1)), s(n.split([1, 2], -1)), s(deep.split(1, 2))
n.chunk(2, 1)
n.split(1, 1)
n.split([1, 2], 1)
n.split([1, 1], 0)
s(n.narrow(2, 0, 1))
n.narrow(1, 0, 1)
s(torch.cat([n, n * 2], -1)), s(torch.stack([n, n], -1)), s(torch.stack([n, n], 2))
torch.cat([n, n])
torch.cat([n, n], 1)
torch.stack([n, n])
n[0].fill_(7); s(n)
s(n.copy_(n.double() * 2)), s(n.zero_()), s(n.fill_(2))
n.copy_(NT([b, a], layout=J))
"""

_VALUES = """
s(n + 1), s(1 - n), s(2 / n), s(n ** 2), s(n + n), s(n * n.clone()), s(n % 2), s(-n), s(n.clamp(0, 1)), s(n.square()), s(t + 1), s(holes * 2)
s(n + x(3)), s(n * x(2, 1, 3)), s(n + x(2, 1, 1)), s(n * x(1)), s(n + x(2, 4, 3)), s(x(2, 1, 3) * n), s(t + x(2, 3, 1)), s(n - x(1, 1, 3))
n + NT([a, b], layout=J)
n * t
n + x(2, 5, 3)
n + x(3, 4, 3)
n + x(1, 2, 4, 3)
n * x(2, 2)
s(n == n), s(n > 0), s(n <= x(3)), s((n > 0) & (n < 0.5)), s(torch.isclose(n, n)), s(n.maximum(n * 2)), s(torch.pow(2, n)), s(n.atan2(n))
s(n.masked_fill(n > 0, 0.0)), s(torch.where(n > 0, n, 0.0)), s(torch.where(n > 0, n, x(3))), s(n.lerp(n, 0.5))
[s(getattr(torch, f)(n)) for f in "abs ceil cos erf exp expm1 floor isfinite isnan neg relu round sigmoid sign sin tanh trunc".split()]
[s(getattr(F, f)(n)) for f in "elu gelu hardtanh leaky_relu mish relu6 silu softplus softsign".split()]
s(n.mul_(2)), s(n.add_(1)), s(n.relu_()), s(F.relu(n - 1, inplace=True)), s(n.sub_(x(3)))
n.sum(), s(n.sum(-1)), s(n.sum(-1, keepdim=True)), n.sum(1), n.sum(1, keepdim=True), deep.sum((0, 1)), deep.sum((0, 1), keepdim=True), s(deep.sum((2, 3))), s(t.sum(1)), t.sum(2), t.sum((0, 2))
n.mean(), s(n.mean(-1)), n.mean(1), deep.mean((0, 1, 2)), s(n.prod(-1)), deep.prod(1), holes.sum(), s(holes.sum(-1))
n.max(), n.min(), n.amax(1), s(n.max(2)), n.max(1), n.argmax(1), s(deep.argmax(2)), (n > 0).all(), (n > 0).any(), (deep > 0).any(1), n.argmax()
n.sum(0)
n.sum((1, 2))
holes.sum(1)
holes.mean((0, 1))
t.sum((0, 1))
s(n.softmax(-1)), s(n.softmax(1)), s(n.log_softmax(-1)), s(t.softmax(1)), s(holes.softmax(-1)), s(deep.softmax(1))
n.softmax(0)
holes.softmax(1)
t.softmax(2)
n.log_softmax(1)
s(F.linear(n, x(5, 3), x(5))), s(deep @ x(2, 5)), s(n @ x(3, 2)), s(n @ x(2, 3, 2)), s(n.bmm(x(2, 3, 4))), t @ n, s(x(5, 3) @ t), s(deep.matmul(deep.transpose(2, 3))), s(holes @ x(3, 2))
n @ n
n.matmul(x(3))
t.matmul(x(5, 5))
s(F.layer_norm(n, (3,))), s(F.layer_norm(n, (3,), x(3), x(3))), s(F.layer_norm(n, (n.shape[1], 3))), s(F.layer_norm(deep, (3, 2))), s(F.layer_norm(holes, (3,))), s(F.rms_norm(n, (3,)))
F.layer_norm(n, (2, 4, 3))
F.layer_norm(holes, (holes.shape[1], 3))
F.layer_norm(NT([x(2), x(3)], layout=J), (3,))
F.rms_norm(n, (2, 3))
s(F.dropout(n, 0.5, False)), s(F.dropout(n, 1.0)), s(F.embedding(NT([[1, 2], [3]], layout=J), x(5, 2))), s(F.one_hot(NT([[1, 2], [3]], layout=J), 4))
q = deep.transpose(1, 2); s(F.scaled_dot_product_attention(q, q, q)), s(F.scaled_dot_product_attention(q, q, q).transpose(1, 2).flatten(-2))
q = nest.as_nested_tensor([x(2, 3, 2), x(4, 3, 2)], layout=J); s(F.scaled_dot_product_attention(q, q * 2, q))
F.scaled_dot_product_attention(t, t, x(2, 3, 4))
F.scaled_dot_product_attention(n, n, n, attn_mask=torch.ones(2))
r = pickle.loads(pickle.dumps(leaf)); [s(r), r.requires_grad, s(pickle.loads(pickle.dumps(holes)))]
r = copy.deepcopy(leaf); [s(r), r.requires_grad]
copy.deepcopy(leaf * 2)
"""

_GRADIENTS = """
g(lambda y: y * 2 + y, leaf)
g(lambda y: y * y, leaf)
g(lambda y, z: y * z, leaf, x(2, 1, 3, requires_grad=True))
g(lambda y, z: y + z, leaf, x(3, requires_grad=True))
g(lambda y: y.softmax(-1), leaf)
g(lambda y: y.mean(), leaf)
g(lambda y: y.amax(1), leaf)
g(lambda y: y.transpose(1, 2) * 2, leaf)
g(lambda y, w, c: F.linear(y, w, c), leaf, x(5, 3, requires_grad=True), x(5, requires_grad=True))
g(lambda y, w: y @ w, leaf, x(2, 3, 4, requires_grad=True))
g(lambda y, w, c: F.layer_norm(y, (3,), w, c), leaf, x(3, requires_grad=True), x(3, requires_grad=True))
g(lambda y: y.to_padded_tensor(0), leaf)
g(lambda y: y.view(2, -1, 3, 1), leaf)
g(lambda y: y.unbind()[1], leaf)
g(lambda y: y.values(), leaf)
g(lambda y: y.chunk(3, -1)[1], leaf)
g(lambda y: torch.cat([y, y * 2], -1), leaf)
g(lambda y, z: nest.as_nested_tensor([y, z], layout=J) * 3, x(2, 3, requires_grad=True), x(4, 3, requires_grad=True))
g(lambda y: nest.nested_tensor_from_jagged(y, torch.tensor([0, 1, 4])).sin(), x(4, 3, requires_grad=True))
g(lambda y: nest.nested_tensor_from_jagged(y, torch.tensor([0, 3, 6]), lengths=torch.tensor([2, 1])) * 3, x(8, 3, requires_grad=True))
g(lambda w: F.embedding(NT([[1, 2], [2]], layout=J), w), x(5, 2, requires_grad=True))
y = deep.detach().clone().requires_grad_(); g(lambda q: F.scaled_dot_product_attention(q.transpose(1, 2), q.transpose(1, 2), q.transpose(1, 2)), y)
s(torch.autograd.grad((leaf * leaf).sum(), leaf))
y = leaf.clone(); y.mul_(3); y.sin_(); y.sum().backward(); s(leaf.grad)
"""

CASES = cases(JAGGED, _ABOUT, _MADE, _SHAPES, _VALUES, _GRADIENTS)
