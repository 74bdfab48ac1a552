# ruff: noqa: E501  (a case is one line)
"""Cases of observers and of quantised modules."""

from __future__ import annotations

from quantization_scope import cases

_NAMES = """
def seen(o, n=4):
    for k in range(n):
        o(x(3, 50, start=7 * k) * (1 + k) + 0.2)
    return [repr(o), *o.calculate_qparams(), sorted(o.state_dict())]
tensors = (aq.MinMaxObserver, aq.MovingAverageMinMaxObserver, aq.HistogramObserver)
channels = (aq.PerChannelMinMaxObserver, aq.MovingAveragePerChannelMinMaxObserver)
def trained(factory):
    fq = factory()
    return [s([fq(a * k) for k in (1, 2)]), repr(fq), sorted(fq.state_dict())]
def of(module, *inputs):
    return [repr(module), s(module(*inputs)), s(dict(module.state_dict()))]
f = nnq.QFunctional(); f.scale, f.zero_point = 0.11, 20
p4 = nn.Parameter(torch.ones(4)); p66 = nn.Parameter(torch.ones(6, 6))
"""

_OBSERVERS = """
[seen(o()) for o in (*tensors, *channels)]
[seen(o(dtype=qi8)) for o in (*tensors, *channels)]
[seen(o(reduce_range=True)) for o in (*tensors, *channels)]
[seen(o(quant_min=0, quant_max=15)) for o in (*tensors, *channels)]
[seen(o(dtype=qi8, qscheme=torch.per_tensor_symmetric)) for o in tensors]
[seen(o(qscheme=torch.per_tensor_symmetric)) for o in tensors]
[seen(o(dtype=qi8, qscheme=torch.per_channel_symmetric, ch_axis=1)) for o in channels]
[seen(o(qscheme=torch.per_channel_affine_float_qparams)) for o in channels]
[o().calculate_qparams() for o in (*tensors, *channels)]
o = aq.HistogramObserver(bins=8); o(torch.tensor([1.0, 2.0, 3.0])); o(torch.tensor([-5.0, 10.0])); o.histogram, o.min_val, o.max_val
o = aq.HistogramObserver(bins=8); o(torch.tensor([2.0, 2.0])); o(torch.tensor([1.0, 3.0])); o.histogram, o.calculate_qparams()
o = aq.HistogramObserver(bins=8); o(torch.tensor([1.0, inf, 3.0])); o.histogram
o = aq.HistogramObserver(); o(a); n = aq.HistogramObserver(); n.load_state_dict(o.state_dict()); n.calculate_qparams()
o = aq.PerChannelMinMaxObserver(); o(a); n = aq.PerChannelMinMaxObserver(); n.load_state_dict(o.state_dict()); n.calculate_qparams()
aq.MinMaxObserver(qscheme=torch.per_channel_affine)
aq.MinMaxObserver(dtype=torch.float32)
aq.MinMaxObserver(quant_min=5, quant_max=10)
aq.MinMaxObserver(reduce_range=True, qscheme=torch.per_tensor_symmetric)
aq.PerChannelMinMaxObserver(is_dynamic=True)
aq.PlaceholderObserver(dtype=torch.float16).calculate_qparams()
repr(aq.PlaceholderObserver(dtype=torch.float16)), s(list(aq.FixedQParamsObserver(0.1, 2).calculate_qparams()))
o = aq.RecordingObserver(); o(a); o.get_tensor_value()
[trained(getattr(aq, n)) for n in ("default_fake_quant", "default_weight_fake_quant", "default_per_channel_weight_fake_quant", "default_histogram_fake_quant", "default_embedding_fake_quant")]
[trained(getattr(aq, n)) for n in ("default_fused_act_fake_quant", "default_fused_wt_fake_quant", "default_fused_per_channel_wt_fake_quant", "default_fixed_qparams_range_0to1_fake_quant", "default_fixed_qparams_range_neg1to1_fake_quant")]
m = aq.default_fake_quant(); m.disable_fake_quant(); r = [m(a)]; m.apply(aq.disable_observer); m.apply(aq.enable_fake_quant); [*r, m(a * 5), m.scale]
[repr(getattr(aq.qconfig, n)) .replace(torch.__name__ + ".", "torch.").replace("_observing", "observer").replace("_histogram", "observer") for n in sorted(aq.qconfig.__all__) if isinstance(getattr(aq.qconfig, n), tuple)]
aq.QConfig(activation=aq.MinMaxObserver(), weight=aq.MinMaxObserver)
[aq.qconfig_equals(aq.get_default_qconfig("fbgemm"), aq.get_default_qconfig(k)) for k in ("x86", "qnnpack", "onednn")]
aq.get_default_qconfig("cublas")
"""

_MODULES = """
m = nnq.Linear(5, 3); m.set_weight_bias(T(x(3, 5), 0.01, 0, qi8), x(3)); m.scale, m.zero_point = 0.05, 10; of(m, q)
m = nnq.Linear(5, 4); m.set_weight_bias(C(x(4, 5), torch.tensor([0.01, 0.02, 0.03, 0.005]), torch.zeros(4).long(), 0, qi8), x(4)); m.scale, m.zero_point = 0.05, 10; of(m, q)
m = nnq.Linear(5, 3, bias_=False); m.set_weight_bias(T(x(3, 5), 0.01, 3, qi8), None); m.scale, m.zero_point = 0.05, 10; s(m(q))
m = nni.quantized.LinearReLU(5, 3); m.set_weight_bias(T(x(3, 5), 0.01, 0, qi8), x(3)); m.scale, m.zero_point = 0.05, 10; repr(m), s(m(q))
m = nnq.Conv2d(4, 6, 3, 2, 1, groups=2); m.set_weight_bias(T(x(6, 2, 3, 3), 0.01, 0, qi8), x(6)); m.scale, m.zero_point = 0.05, 40; of(m, img)
m = nni.quantized.ConvReLU2d(4, 4, 3, padding=1, padding_mode="reflect"); m.set_weight_bias(T(x(4, 4, 3, 3), 0.01, 0, qi8), x(4)); m.scale, m.zero_point = 0.05, 40; s(m(img))
m = nnq.Conv1d(4, 3, 2, bias=False); m.set_weight_bias(C(x(3, 4, 2), torch.tensor([0.01, 0.02, 0.03]), torch.zeros(3).long(), 0, qi8), None); m.scale, m.zero_point = 0.05, 40; repr(m), s(m(img[:, :, 0]))
m = nnq.ConvTranspose2d(4, 3, 3, 2, 1, 1); m.set_weight_bias(T(x(4, 3, 3, 3), 0.01, 0, qi8), x(3)); m.scale, m.zero_point = 0.05, 40; repr(m), s(m(img))
nnq.Conv2d(4, 4, 1)(img[0])
s(f.add(img, img)), s(f.mul(img, img)), s(f.add_relu(img, img)), s(f.cat([img, img])), repr(f)
s(f.add_scalar(img, 0.31)), s(f.add_scalar(img, 3.1)), s(f.add_scalar(img, -4.7)), s(f.mul_scalar(img, 0.7)), s(f.mul_scalar(img, -2.1))
f(img)
s(nnq.FloatFunctional().add(a, a)), s(nnq.FloatFunctional().add_relu(a, a))
of(nnq.Quantize(0.1, 3, qi8), a), s(nnq.DeQuantize()(q))
[(repr(m), s(m(img))) for m in (nnq.ReLU6(), nnq.Hardswish(0.013, 5), nnq.ELU(0.017, 55, 0.7), nnq.LeakyReLU(0.017, 55, 0.2), nnq.Sigmoid(1 / 256, 0), nnq.Softmax(1, 1 / 256, 0), nnq.BatchNorm2d(4))]
[(repr(m), s(m(img))) for m in (nnq.LayerNorm((6, 6), p66, p66, 0.03, 100), nnq.GroupNorm(2, 4, p4, p4, 0.03, 100), nnq.InstanceNorm2d(4, p4, p4, 0.03, 100))]
e = nnq.Embedding(4, 5); e.set_weight(C(a, torch.tensor([0.1, 0.05, 0.3, 0.02]), torch.tensor([1.0, 30.0, 2.0, 50.0]), 0, qu8)); of(e, torch.tensor([3, 0, 1]))
e = nnq.EmbeddingBag(4, 5); e.set_weight(C(a, torch.tensor([0.1, 0.05, 0.3, 0.02]), torch.tensor([1.0, 30.0, 2.0, 50.0]), 0, qu8)); repr(e), e(torch.tensor([3, 0, 1, 2]), torch.tensor([0, 3]))
[nni.LinearReLU(nn.Linear(2, 2), nn.Tanh())]
nni.ConvBn2d(nn.Conv1d(1, 1, 1), nn.BatchNorm2d(1))
repr(nni.ConvBnReLU2d(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()))
"""

_QAT = """
m = nnqat.Linear(5, 3, qconfig=aq.default_qat_qconfig); g(m, a), s(dict(m.state_dict())), repr(m.to_float()), m.weight_fake_quant.scale
m = nnqat.Conv2d(4, 2, 3, qconfig=aq.get_default_qat_qconfig("fbgemm")); g(m, b), m.weight_fake_quant.scale
nnqat.Linear(5, 3)
nnqat.Linear.from_float(nn.Linear(2, 2))
l = nn.Linear(5, 3); l.qconfig = aq.default_qat_qconfig; m = nnqat.Linear.from_float(l); m.weight is l.weight, m(a).detach()
e = nnqat.Embedding(4, 5, qconfig=aq.default_embedding_qat_qconfig); e(torch.tensor([1, 3])).detach(), repr(e.to_float())
nnqat.Embedding(4, 5, qconfig=aq.default_qat_qconfig)
e = nnqat.EmbeddingBag(4, 5, qconfig=aq.default_embedding_qat_qconfig); e(torch.tensor([[1, 3]])).detach()
m = nni.qat.ConvBn2d(4, 3, 3, qconfig=aq.default_qat_qconfig); g(m, b), m.bn.running_mean, {n: p.grad for n, p in m.named_parameters()}, sorted(m.state_dict())
m = nni.qat.ConvBnReLU2d(4, 3, 3, bias=True, qconfig=aq.default_qat_qconfig); m.freeze_bn_stats(); g(m, b), m.bn.running_mean, kinds(m.to_float())
l = nn.Linear(5, 3); l2 = nni.LinearBn1d(l, nn.BatchNorm1d(3)); l2.qconfig = aq.default_qat_qconfig; m = nni.qat.LinearBn1d.from_float(l2); m(a).detach(), kinds(m), m.eval()(a).detach(), s(dict(m.to_float().state_dict()))
m = nni.qat.LinearReLU(5, 3, qconfig=aq.default_qat_qconfig); m(a).detach(), kinds(m.to_float())
nnqat.dynamic.Linear(5, 3, qconfig=aq.default_qat_qconfig)
nnqat.dynamic.Linear(5, 3, qconfig=aq.default_dynamic_qat_qconfig)(a).detach()
"""

CASES = cases(_NAMES, _OBSERVERS, _MODULES, _QAT)
