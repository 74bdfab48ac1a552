# ruff: noqa: E501  (a case is one line)
"""Cases of quantised tensors and of fake quantisation."""

from __future__ import annotations

from quantization_scope import cases

_MADE = """
s(q), s(ch), repr(q), repr(ch)
s(T(x(3), 0.1, 300, qu8))
s(T(x(3), 0.1, -300, qi8))
s(T(x(3).double(), 0.1, 0, qi8))
s(T(x(3), 0.1, 0, torch.int8))
s(T(x(5) * 1000, 0.001, 5, torch.qint32))
s(T(torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, 0.25]), 1.0, 1, qi8))
s(T(torch.tensor([inf, -inf, 300.0]), 1.0, 3, qu8))
s(T(x(3), torch.tensor(0.5), torch.tensor(3), qu8))
s(T([x(3), x(2)], torch.tensor([0.5, 0.1]), torch.tensor([3, 4]), qu8))
s(C(a, torch.tensor([0.1, 0.2, 0.3, 0.05]), torch.tensor([0, 1.5, -3, 4]), 0, qu8))
s(C(a, torch.ones(5) * 0.1, torch.zeros(5).long(), 1, qi8))
s(C(a, torch.ones(3) * 0.1, torch.zeros(3).long(), 1, qi8))
[s(torch.quantize_per_tensor_dynamic(a, d, r)) for d in (qi8, qu8) for r in (False, True)]
[torch._choose_qparams_per_tensor(t, r) for t in (a, a.abs(), -a.abs(), a * 1e-5, a * 1e-42, a * 0) for r in (False, True)]
s(torch._make_per_tensor_quantized_tensor(torch.tensor([1, 2], dtype=torch.uint8), 0.5, 1))
s(torch._make_per_channel_quantized_tensor(torch.tensor([[1, 2]], dtype=torch.int8), torch.tensor([0.5, 0.1]), torch.tensor([1, 2]), 1))
[q.dequantize(), ch.dequantize(), torch.dequantize([q, ch]), a.half().dequantize()]
[str(q.dtype), q.is_quantized, q.shape, q.numel(), q.element_size(), str(qi8), qi8.itemsize, isinstance(qi8, torch.dtype), a.is_quantized]
ch.q_per_channel_axis(), str(ch.qscheme()), str(torch.per_channel_symmetric)
"""

_OPERATORS = """
[s(f(q)) for f in (torch.relu, F.relu, F.relu6, torch.sigmoid, torch.tanh, torch.clone, torch.flatten, torch.t)]
s(q.view(2, 10)), s(q[1]), s(q[:, 1:3]), s(q.reshape(5, 4)), s(q.unsqueeze(0)), s(q.permute(1, 0)), s(q.chunk(2)), s(q.contiguous())
s(q.clamp(-0.5, 1.0)), s(F.hardtanh(q, -1.0, 1.0)), s(q.max()), s(q.min())
s(q.mean()), s(q.mean(1)), s(q.mean([0, 1], keepdim=True))
s(F.max_pool2d(img, 2)), s(F.max_pool2d(img, 3, 2, 1)), s(F.avg_pool2d(img, 2)), s(F.adaptive_avg_pool2d(img, 1)), s(F.adaptive_avg_pool2d(img, (2, 3)))
s(F.interpolate(img, scale_factor=2.0))
s(torch.cat([q, q], 1)), s(torch.cat([q, T(a, 0.1, 20, qu8)], 0))
q == q, q.equal(q.clone()), q > 0.3
s(q.clone().copy_(a * 2)), s(T(a * 0, 0.07, 30, qu8).copy_(q))
q[1, 2].item()
pickle.loads(pickle.dumps(qi8)) is qi8, pickle.loads(pickle.dumps(torch.per_tensor_affine)) is torch.per_tensor_affine
s(copy.deepcopy(q)), s(copy.deepcopy(ch))
"""

_FAKE = """
g(lambda t: torch.fake_quantize_per_tensor_affine(t, 0.3, 1, -10, 10), a)
g(lambda t: torch.fake_quantize_per_tensor_affine(t, torch.tensor(0.3), torch.tensor(1, dtype=i32), -10, 10), a)
g(lambda t: torch.fake_quantize_per_channel_affine(t, torch.tensor([0.1, 0.2, 0.3, 0.05]), torch.tensor([0, 1, -3, 4], dtype=i32), 0, -20, 20), a)
g(lambda t: torch.fake_quantize_per_channel_affine(t, torch.tensor([0.1, 0.2, 0.3, 0.05, 1.0]), torch.tensor([0, 1.5, -3, 4, 0.3]), 1, -20, 20), a)
torch.fake_quantize_per_tensor_affine(torch.tensor([nan, inf, -inf]), 1.0, 1, -10, 10)
torch.fake_quantize_per_tensor_affine(torch.tensor([0.5, 1.5, -0.5]), 1.0, 1, -10, 10)
torch.fake_quantize_per_tensor_affine(a, 0.3, 100, -10, 10)
torch.fake_quantize_per_tensor_affine(a, 0.3, 1, 10, -10)
torch.fake_quantize_per_channel_affine(a, torch.ones(2), torch.zeros(2, dtype=i32), 0, -10, 10)
torch.fake_quantize_per_channel_affine(a, torch.ones(4), torch.zeros(4).long(), 0, -10, 10)
torch.fake_quantize_per_channel_affine(a, torch.ones(4), torch.full((4,), 20, dtype=i32), 0, -10, 10)
[torch.fake_quantize_per_tensor_affine(a.to(d), 0.3, 1, -10, 10) for d in (torch.float64, torch.float16, torch.bfloat16)]
g(lambda t, u, v: torch._fake_quantize_learnable_per_tensor_affine(t, u, v, -10, 10, 0.5), a, torch.tensor([0.3]), torch.tensor([1.3]))
g(lambda t, u, v: torch._fake_quantize_learnable_per_channel_affine(t, u, v, 0, -10, 10, 0.5), a, torch.tensor([0.3, 0.1, 0.2, 0.5]), torch.tensor([1.3, 0, 0.7, -2]))
r = []; st = [torch.tensor([1]), torch.tensor([1]), torch.tensor(inf), torch.tensor(-inf), torch.ones(1), torch.zeros(1, dtype=i32)]; [r.append(torch.fused_moving_avg_obs_fake_quant(a * k, *st, 0.1, 0, 255, 0)) for k in (1, 2)]; r.append(st); r
r = []; st = [torch.tensor([1]), torch.tensor([1]), torch.tensor(inf), torch.tensor(-inf), torch.ones(1), torch.zeros(1, dtype=i32)]; [r.append(torch.fused_moving_avg_obs_fake_quant(a * k, *st, 0.1, -128, 127, 0, False, True)) for k in (1, 2)]; r.append(st); r
r = []; st = [torch.tensor([1]), torch.tensor([1]), torch.full((4,), inf), torch.full((4,), -inf), torch.ones(4), torch.zeros(4, dtype=i32)]; [r.append(torch.fused_moving_avg_obs_fake_quant(a * k, *st, 0.1, -128, 127, 0, True, True)) for k in (1, 2)]; r.append(st); r
g(lambda t: torch.fused_moving_avg_obs_fake_quant(t, torch.tensor([0]), torch.tensor([1]), torch.tensor(-1.0), torch.tensor(1.0), torch.tensor([0.05]), torch.tensor([3], dtype=i32), 0.1, 0, 40, 0), a)
torch.fused_moving_avg_obs_fake_quant(a, torch.tensor([1]), torch.tensor([1]), torch.full((5,), inf), torch.full((5,), -inf), torch.ones(5), torch.zeros(5, dtype=i32), 0.1, 0, 40, 1, True)
g(lambda t: torch.fused_moving_avg_obs_fake_quant(t, torch.tensor([1]), torch.tensor([0]), torch.tensor(-1.0), torch.tensor(1.0), torch.tensor([0.05]), torch.tensor([3], dtype=i32), 0.1, 0, 40, 0), a)
"""

CASES = cases("", _MADE, _OPERATORS, _FAKE)
