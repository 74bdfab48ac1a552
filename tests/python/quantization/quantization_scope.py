# ruff: noqa: E501  (a case is one line)
"""Names that the cases of quantisation begin with."""

from __future__ import annotations

from core_scope import case

NAMES = """
import importlib, warnings; warnings.simplefilter("ignore")  # quantised tensors are deprecated there
part = lambda name: importlib.import_module(torch.__name__ + "." + name)
nn, F, aq, nnq, nnqd, nni, nnqat = torch.nn, torch.nn.functional, part("ao.quantization"), part("ao.nn.quantized"), part("ao.nn.quantized.dynamic"), part("ao.nn.intrinsic"), part("ao.nn.qat")
torch.backends.quantized.engine = "fbgemm"
T, C, qi8, qu8, i32 = torch.quantize_per_tensor, torch.quantize_per_channel, torch.qint8, torch.quint8, torch.int32
def s(t):
    if isinstance(t, (tuple, list)):
        return [s(e) for e in t]
    if isinstance(t, dict):
        return {k: s(v) for k, v in t.items()}
    if isinstance(t, torch.Tensor) and t.is_quantized:
        one = t.qscheme() == torch.per_tensor_affine
        scale = [t.q_scale(), t.q_zero_point()] if one else [t.q_per_channel_scales(), t.q_per_channel_zero_points(), t.q_per_channel_axis()]
        return [str(t.dtype), str(t.qscheme()), t.int_repr(), scale]
    return t.detach() if isinstance(t, torch.Tensor) else t
def g(f, *leaves):
    leaves = [l.clone().requires_grad_() for l in leaves]
    out = f(*leaves)
    (out * torch.linspace(-1, 2, out.numel()).view(out.shape)).sum().backward()
    return [out.detach(), *(l.grad for l in leaves)]
def kinds(m):
    return [(n, type(c).__name__) for n, c in m.named_modules()]
a, b = x(4, 5) * 3, x(2, 4, 6, 6)
q = T(a, 0.07, 30, qu8)
ch = C(a, torch.tensor([0.1, 0.05, 0.3, 0.02]), torch.tensor([0, 3, -2, 5]), 0, qi8)
img = T(b, 0.013, 90, qu8)
"""


def cases(names: str, *texts: str) -> dict:
    """Cases by their own text, one a line."""
    lines = [line for text in texts for line in text.strip().splitlines()]
    return {line: case(NAMES + names + line) for line in lines}
