# ruff: noqa: E501  (a case is one line)
"""Cases of whole workflows: fusing, observing, training, converting."""

from __future__ import annotations

from quantization_scope import cases

_NAMES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = aq.QuantStub(), aq.DeQuantStub()
        self.conv, self.bn, self.relu = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU()
        self.second, self.pool = nn.Conv2d(4, 4, 3), nn.MaxPool2d(2)
        self.sum, self.fc = nnq.FloatFunctional(), nn.Linear(16, 5)
    def forward(self, t):
        t = self.relu(self.bn(self.conv(self.quant(t))))
        t = self.pool(self.second(self.sum.add(t, t)))
        return self.dequant(self.fc(torch.flatten(t, 1)))
pic = x(4, 3, 6, 6)
def static(qconfig, fuse=True):
    m = Net().eval(); m.qconfig = qconfig
    m = aq.fuse_modules(m, [["conv", "bn", "relu"]]) if fuse else m
    p = aq.prepare(m)
    for k in range(4):
        p(x(4, 3, 6, 6, start=11 * k) * (1 + k))
    c = aq.convert(p)
    return [kinds(p), kinds(c), c(pic), sorted(c.state_dict()), hasattr(c, "qconfig")]
def qat(qconfig):
    m = Net().train(); m.qconfig = qconfig
    p = aq.prepare_qat(aq.fuse_modules_qat(m, [["conv", "bn", "relu"]]))
    opt, losses = torch.optim.SGD(p.parameters(), 0.01), []
    for _ in range(3):
        loss = p(pic).square().sum(); opt.zero_grad(); loss.backward(); opt.step(); losses.append(loss.detach())
    c = aq.convert(p.eval())
    return [kinds(p), sorted(p.state_dict()), losses, kinds(c), c(pic)]
def dynamic(m, *inputs, **options):
    c = aq.quantize_dynamic(m, **options)
    return [repr(c), s(c(*inputs))]
seq = nn.Sequential(nn.Linear(5, 30), nn.ReLU(), nn.Linear(30, 4))
steps = x(4, 3, 5)
"""

_STATIC = """
static(aq.default_qconfig)
static(aq.default_per_channel_qconfig)
static(aq.get_default_qconfig("fbgemm"))
static(aq.get_default_qconfig("qnnpack"), False)
m = Net().eval(); m.qconfig = aq.default_qconfig; c = aq.convert(aq.prepare(m)); p = aq.prepare(m); p(pic); d = aq.convert(p); c.load_state_dict(d.state_dict()); (c(pic) - d(pic)).abs().max()
m = nn.Sequential(nn.Linear(5, 3)); m.qconfig = aq.default_qconfig; p = aq.prepare(aq.add_quant_dequant(aq.propagate_qconfig_(m) or m)); p(a); c = aq.convert(p); kinds(c), c(a)
m = aq.QuantWrapper(nn.Sequential(nn.Linear(5, 3), nn.ReLU6(), nn.Hardswish())); m.qconfig = aq.default_qconfig; c = aq.quantize(m, lambda n, data: [n(d) for d in data], [[a, a * 2]]); kinds(c), c(a)
m = aq.QuantWrapper(nn.Linear(5, 3)); m.qconfig = aq.default_qconfig; m.module.qconfig = None; p = aq.prepare(m); p(a); kinds(aq.convert(p))
m = nn.Linear(5, 3); m.qconfig = aq.default_qconfig; m.register_forward_hook(lambda *u: None); p = aq.prepare(nn.Sequential(m)); p(a); len(p[0]._forward_hooks), len(aq.convert(p)[0]._forward_hooks)
p = aq.prepare(nn.Sequential(nn.Linear(2, 2))); kinds(p)
m = nn.Sequential(nn.ConvTranspose1d(1, 1, 1)); m.qconfig = aq.default_per_channel_qconfig; aq.prepare(m)
m = nn.Sequential(nn.Linear(5, 3)); m.qconfig = aq.default_qconfig; p = aq.prepare(m); p(a); d = {}; aq.quantize._get_observer_dict(p, d) if not callable(aq.quantize) else None; sorted(aq.get_observer_state_dict(p))
"""

_FUSE = """
m = Net().eval(); n = aq.fuse_modules(m, ["conv", "bn", "relu"]); kinds(n), (n(pic) - m(pic)).abs().max() < 1e-5, kinds(m) == kinds(n)
m = nn.Sequential(nn.Linear(5, 3), nn.BatchNorm1d(3)).eval(); n = aq.fuse_modules(m, [["0", "1"]]); kinds(n), (n(a) - m(a)).abs().max() < 1e-5
m = nn.Sequential(nn.ConvTranspose2d(4, 3, 3), nn.BatchNorm2d(3)).eval(); n = aq.fuse_modules(m, [["0", "1"]]); kinds(n), (n(b) - m(b)).abs().max() < 1e-5
m = nn.Sequential(nn.Conv2d(4, 3, 3), nn.ReLU(), nn.BatchNorm2d(3), nn.ReLU()).eval(); kinds(aq.fuse_modules(m, [["0", "1"], ["2", "3"]]))
aq.fuse_modules(nn.Sequential(nn.Linear(2, 2), nn.Tanh()), [["0", "1"]])
m = nn.Sequential(nn.Conv2d(4, 3, 3), nn.BatchNorm2d(3)); kinds(aq.fuse_modules_qat(m, [["0", "1"]]))
m = nn.Sequential(nn.Conv2d(4, 3, 3), nn.BatchNorm2d(3)); m[1].eval(); aq.fuse_modules_qat(m, [["0", "1"]])
"""

_QAT = """
qat(aq.default_qat_qconfig)
qat(aq.get_default_qat_qconfig("fbgemm"))
qat(aq.get_default_qat_qconfig("fbgemm", version=0))
aq.prepare_qat(Net().eval())
m = nn.Sequential(nn.Linear(5, 3)); m.qconfig = aq.default_dynamic_qat_qconfig; p = aq.prepare_qat(m, mapping={nn.Linear: nnqat.dynamic.Linear}); p(a); c = aq.convert(p, mapping={nnqat.dynamic.Linear: nnqd.Linear}); kinds(p), kinds(c), c(a)
m = nn.Sequential(nn.Embedding(4, 5)); m.qconfig = aq.default_embedding_qat_qconfig; p = aq.prepare_qat(m, mapping=aq.get_embedding_qat_module_mappings()); p(torch.tensor([1])); c = aq.convert(p.eval(), mapping=aq.get_embedding_static_quant_module_mappings()); kinds(p), kinds(c), c(torch.tensor([1, 2]))
m = nn.Sequential(nn.Linear(5, 3), nn.Sigmoid()).train(); m.qconfig = aq.default_qat_qconfig; kinds(aq.prepare_qat(m))
"""

_DYNAMIC = """
dynamic(seq, a)
dynamic(seq, a, qconfig_spec={nn.Linear: aq.per_channel_dynamic_qconfig})
dynamic(seq, a, qconfig_spec={"0"})
dynamic(seq, a, qconfig_spec={nn.Linear}, dtype=torch.float16)
dynamic(seq, a * 0), dynamic(seq, a * 1e-6), dynamic(seq, a.abs() * 1000)
dynamic(seq, a[:0]), dynamic(seq, x(2, 3, 5))
dynamic(seq, a.double())
c = aq.quantize_dynamic(seq); d = aq.quantize_dynamic(nn.Sequential(nn.Linear(5, 30), nn.ReLU(), nn.Linear(30, 4))); d.load_state_dict(c.state_dict()); sorted(c.state_dict()), (d(a) - c(a)).abs().max()
dynamic(nn.Sequential(nn.Linear(300, 20)), x(2, 300))
dynamic(nn.Sequential(nn.LSTM(5, 6, 2, bidirectional=True)), steps)
dynamic(nn.Sequential(nn.GRU(5, 6, 2, batch_first=True)), steps)
dynamic(nn.Sequential(nn.LSTM(5, 6)), steps, dtype=torch.float16)
c = aq.quantize_dynamic(nn.Sequential(nn.LSTM(5, 6, bidirectional=True)))[0]; o, h = c(nn.utils.rnn.pack_padded_sequence(steps, [3, 4, 1], enforce_sorted=False)); o.data, h
c = aq.quantize_dynamic(nn.Sequential(nn.GRU(5, 6)))[0]; o, h = c(steps, x(1, 3, 6)); o, h, sorted(c.get_weight())
[dynamic(nn.Sequential(k(5, 6)), x(3, 5)) for k in (nn.LSTMCell, nn.GRUCell, nn.RNNCell)]
dynamic(nn.Sequential(nn.Embedding(10, 8)), torch.tensor([1, 9]), dtype=qu8)
dynamic(nn.Sequential(nn.EmbeddingBag(10, 8, mode="sum")), torch.tensor([[1, 9]]), dtype=qu8)
aq.quantize_dynamic(seq, dtype=torch.float64)
m = nn.Sequential(nni.LinearReLU(nn.Linear(5, 3), nn.ReLU())); dynamic(m, a, qconfig_spec={nni.LinearReLU})
"""

CASES = cases(_NAMES, _STATIC, _FUSE, _QAT, _DYNAMIC)
