# ruff: noqa: E501  (a case is one line)
"""Cases of nested tensors with the layout strided."""

from __future__ import annotations

from nested_scope import STRIDED, cases

_ABOUT = """
s(n)
s(leaf), leaf.requires_grad
repr(n), str(leaf), name(repr(leaf * 2)), repr(e), f"{n}"
s(NT([1, 2])), s(NT([[1, 2], [3]])), s(NT([torch.tensor(1.0), torch.tensor(2.0)]))
s(NT([a.double(), b]))
s(NT([a, b], dtype=torch.float64))
NT(5)
NT(a)
NT([a, b], layout=torch.sparse_coo)
NT([x(2), x(2, 5)])
NT([torch.tensor(1.0), torch.tensor([])])
s(nest.as_nested_tensor([a, b])), s(nest.as_nested_tensor((a, b), dtype=torch.float64))
s(nest.as_nested_tensor(x(2, 3, 2)))
nest.as_nested_tensor(x(3))
nest.as_nested_tensor(5)
nest.as_nested_tensor(n)
nest.as_nested_tensor(n, layout=J)
[n.dim(), n.numel(), n.is_nested, str(n.layout), n.is_contiguous(), n.nbytes, n.element_size(), n.storage_offset(), n.size(0), n.size(-1), t.is_contiguous()]
[e.dim(), e.numel(), e.size(0), e.unbind(), e.is_contiguous(), e._nested_tensor_size()]
[n._nested_tensor_size(), n._nested_tensor_strides(), n._nested_tensor_storage_offsets(), n.values()]
[t._nested_tensor_size(), t._nested_tensor_strides(), t.values()]
n.size()
n.shape
n.size(1)
n.size(5)
n.stride()
len(n)
n.item()
bool(n)
n.unbind(1)
n.is_same_size(n), n.is_same_size(t), torch.is_same_size(n, n)
a.is_nested
"""

_SHAPES = """
s(n.clone()), s(t.clone()), s(t.contiguous()), s(t.clone(memory_format=torch.contiguous_format))
n.clone(memory_format=torch.channels_last)
s(n.detach()), s(n.double()), s(n.to(torch.float16)), s(n.int()), n.to("cpu") is n, n.float() is n
s(n[0]), s(n[-1]), s(n[0, 1]), s(n[..., 0]), s(n[1, 1:, 2])
n[5]
n[0, 5]
n[None]
n[:, 0]
n[torch.tensor([0])]
s(n.select(0, 0)), s(n.select(1, 0)), s(n.select(2, 1))
n.select(1, 3)
n.select(5, 0)
s(t), s(n.mT), s(deep.transpose(1, 3))
n.transpose(0, 1)
n.transpose(5, 1)
s(n.unsqueeze(1)), s(n.unsqueeze(-1)), s(n.unsqueeze(1).squeeze(1)), s(n.squeeze(2))
n.unsqueeze(0)
n.unsqueeze(9)
n.squeeze()
n.squeeze(0)
s(n.view(2, -1, 3)), s(n.view(2, -1, 3, 1)), s(n.view(2, -1, -1)), s(n.reshape(2, -1, 1, 3))
n.view(-1)
n.view(2, -1)
n.view(())
n.view(2, 4, 3)
e.view(-1)
n.reshape(-1, -1, 3)
deep.view(2, -1, -1, 3, 1)
n.view(2, -2, 3)
s(n.chunk(3, -1)), s(n.split([1, 2], -1)), s(torch.split_with_sizes(n, [1, 2], 2))
n.chunk(2, 0)
n.chunk(2, -1)
t.chunk(3, -1)
n.split([1, 2], 1)
n.split([1, 1], -1)
s(n.narrow(0, 1, 1))
n.narrow(2, 0, 1)
t.narrow(0, 0, 1)
s(torch.cat([n, n])), s(torch.cat([n, NT([a])])), s(torch.cat([n, n], -1))
torch.cat([n, a], -1)
torch.cat([t, t], -1)
torch.cat([n, NT([b, a])], -1)
n[0].fill_(7); s(n)
s(n.zero_()), s(n.fill_(2)), s(n.fill_(torch.tensor(3.0)))
n.fill_(a)
s(n.copy_(NT([a * 2, b * 3]))), s(n.copy_(NT([a.double(), b.double()])))
n.copy_(NT([b, b]))
n.copy_(a)
"""

_VALUES = """
s(n + 1), s(1 + n), s(n - 1), s(2 * n), s(n / 2), s(n + n), s(n * n.clone()), s(n / n), s(n + torch.ones(()))
s(torch.add(n, n, alpha=2)), s(torch.sub(n, n, alpha=2)), s(t + 1), s(t * t)
n + torch.ones(3)
torch.ones(3) * n
n * torch.ones(1)
n * NT([b, a])
n + NT([a])
torch.mul(t, NT([x(3, 2), x(3, 4)]))
s(n.mul_(2)), s(n.add_(1)), s(n.mul_(n))
torch.tensor(2.0).mul_(n)
s(n == 2.0), s(n >= 1), s(n > 0)
n == n
s(n.masked_fill(n > 0, 9.0)), s(n.masked_fill(torch.tensor(True), 0.0))
[s(getattr(torch, f)(n)) for f in "abs relu sin cos neg tanh sgn logical_not isinf isposinf isneginf isnan".split()], s(F.gelu(n)), s(F.silu(n)), s(n.abs().sqrt())
torch.relu(t)
s(n.relu_()), s(F.relu(n - 1, inplace=True)), s(torch.abs_(n)), s(n.tanh_())
n.exp()
s(n.softmax(-1)), s(n.softmax(1)), s(F.softmax(t, -1)), s(e.softmax(0))
n.softmax(0)
n.softmax(5)
s(n.sum(-1, keepdim=True))
n.sum(-1)
n.sum(1, keepdim=True)
n.sum((1, 2), keepdim=True)
n.sum(-1, keepdim=True, dtype=torch.float64)
s(F.linear(n, x(5, 3))), s(F.linear(n, x(5, 3), x(5)))
F.linear(n, x(5, 4))
F.linear(n, x(5, 3, 2))
F.linear(t, x(5, 3))
s(F.layer_norm(n, (3,), x(3), x(3, start=4)))
F.layer_norm(n, (3,))
F.layer_norm(n, (4, 3), x(4, 3), x(4, 3))
F.layer_norm(n, (4,), x(4), x(4))
s(n.matmul(t)), s(n @ t), s(n.bmm(t)), s(n.bmm(x(2, 3, 2))), s(deep @ deep.transpose(-1, -2))
n.matmul(x(3, 2))
torch.matmul(x(2, 3), n)
n.bmm(n)
n.bmm(a)
e.bmm(n)
n.matmul(e)
n.bmm(NT([x(3, 2)]))
s(F.dropout(n, 0.5, False)), s(F.dropout(n, 1.0)), s(F.dropout(e, 0.5))
F.dropout(n, 1.5)
s(F.embedding(NT([torch.tensor([1, 2]), torch.tensor([3])]), x(5, 2)))
s(F.scaled_dot_product_attention(deep, deep, deep)), s(F.scaled_dot_product_attention(n, n, n))
F.scaled_dot_product_attention(n, n, n, is_causal=True)
F.scaled_dot_product_attention(n, n, n, attn_mask=torch.ones(2))
[n.to_padded_tensor(0), nest.to_padded_tensor(n, -1.0), n.to_padded_tensor(2, (3, 5, 3)), e.to_padded_tensor(0), deep.to_padded_tensor(0)]
n.to_padded_tensor(0, (2, 3, 3))
n.to_padded_tensor(0, (2, 5))
t.to_padded_tensor(0)
s(torch.zeros_like(n)), s(torch.ones_like(n))
torch.randn_like(n)._nested_tensor_size(), torch.empty_like(n, dtype=torch.float64).dtype
s(torch._nested_tensor_from_mask(x(2, 3, 2), torch.tensor([[True, True, False], [True, False, False]])))
torch._nested_tensor_from_mask(x(2, 3, 2), torch.tensor([[True, False, True], [True, True, False]]))
s(torch._nested_from_padded(x(2, 4, 3), torch.tensor([[2, 3], [4, 3]]))), s(torch._nested_from_padded(x(2, 2, 4, 3), torch.tensor([[2, 6], [4, 6]]), True))
m = torch.nn.MultiheadAttention(4, 2, batch_first=True).eval(); [torch.nn.init.constant_(p, 0.3) for p in m.parameters()]; q = NT([x(2, 4), x(3, 4)]); m.requires_grad_(False); s(m(q, q, q)), s(m(q, q, q, need_weights=False)[0]), m(q, q, q, average_attn_weights=False)[1]
q = NT([x(2, 4), x(3, 4)]); torch.nn.MultiheadAttention(4, 2, batch_first=True)(q, q, q)
q = NT([x(2, 4), x(3, 4)]); torch.nn.MultiheadAttention(4, 2, batch_first=True).eval()(q, q, q)
q = NT([x(2, 4), x(3, 4)]); torch.nn.MultiheadAttention(4, 2).eval()(q, q, q)
m = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval().requires_grad_(False); [p.copy_(x(*p.shape)) for p in m.parameters()]; s(m(NT([x(2, 4), x(3, 4)])))
r = pickle.loads(pickle.dumps(leaf)); [s(r), r.requires_grad, s(pickle.loads(pickle.dumps(t)))]
"""

_GRADIENTS = """
g(lambda y: y * 2 + y, leaf)
g(lambda y: y * y, leaf)
g(lambda y: y.softmax(-1), leaf)
g(lambda y: y.sum(-1, keepdim=True), leaf)
g(lambda y: y.transpose(1, 2).contiguous(), leaf)
g(lambda y: y.matmul(y.transpose(1, 2)), leaf)
g(lambda y, w, c: F.linear(y, w, c), leaf, x(5, 3, requires_grad=True), x(5, requires_grad=True))
g(lambda y, w, c: F.layer_norm(y, (3,), w, c), leaf, x(3, requires_grad=True), x(3, requires_grad=True))
g(lambda y: y.to_padded_tensor(0), leaf)
g(lambda y: y.view(2, -1, 3, 1), leaf)
g(lambda y: torch.relu(y), leaf)
g(lambda y: F.gelu(y), leaf)
g(lambda y: y.unbind()[1], leaf)
g(lambda y: y[0], leaf)
g(lambda y, z: nest.as_nested_tensor([y, z]) * 3, x(2, 3, requires_grad=True), x(4, 3, requires_grad=True))
g(lambda y: y.values(), leaf)
(leaf * 2).backward()
(leaf * 2).backward(torch.ones(2))
(leaf * 2).backward(NT([x(3, 3), x(4, 3)]))
s(torch.autograd.grad(leaf * leaf, leaf, torch.ones_like(leaf)))
leaf.add_(1)
"""

CASES = cases(STRIDED, _ABOUT, _SHAPES, _VALUES, _GRADIENTS)
