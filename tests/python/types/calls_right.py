"""Calls that a type checker lets pass, one a line; no test runs them.

A line is a case: what it calls and the kind of its result. They are written
for PyTorch; `test_types.py` has a checker read them with hotaru in its place.
"""

import io
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset


def T(value: Tensor) -> None: ...
def I(value: int) -> None: ...
def B(value: bool) -> None: ...
def S(value: str) -> None: ...
def Ts(value: tuple[Tensor, ...]) -> None: ...
def T2(value: tuple[Tensor, Tensor]) -> None: ...
def M(value: nn.Module) -> None: ...


x = torch.ones(3, 3)
i = torch.arange(3)
g = torch.Generator()
gpu = torch.device("cuda", 0)
net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)

# Creation.
T(torch.tensor([1.0, 2.0]))
T(torch.tensor([[1, 2], [3, 4]], dtype=torch.float32, device="cpu"))
T(torch.tensor(3, requires_grad=True))
T(torch.zeros(2, 3))
T(torch.zeros((2, 3)))
T(torch.zeros([2, 3], dtype=torch.int64))
T(torch.zeros(x.shape))
T(torch.zeros(*x.shape, device=x.device))
T(torch.ones(2, dtype=torch.bool, requires_grad=False))
T(torch.empty(0))
T(torch.empty((2, 2), memory_format=torch.contiguous_format))
T(torch.full((2, 2), 7))
T(torch.full((2, 2), 0.5, dtype=torch.float64))
T(torch.arange(10))
T(torch.arange(1, 10, 2))
T(torch.arange(0.0, 1.0, 0.1, dtype=torch.float32))
T(torch.linspace(0, 1, 5))
T(torch.logspace(0, 1, steps=5))
T(torch.eye(3))
T(torch.eye(3, 4, dtype=torch.float16))
T(torch.zeros_like(x))
T(torch.full_like(x, 3))
T(torch.rand(2, 3, generator=g))
T(torch.randn(2, 3))
T(torch.randn((2, 3), device="cpu", dtype=torch.float32))
T(torch.randint(0, 10, (3,)))
T(torch.randint(10, (3,), generator=g))
T(torch.randperm(10))
T(torch.randperm(10, generator=g))
T(torch.normal(0.0, 1.0, (2, 2)))
T(torch.bernoulli(x))
T(torch.multinomial(x, 2, replacement=True))
T(torch.from_numpy(x.numpy()))
T(torch.as_tensor([1, 2]))
T(torch.complex(x, x))
T(torch.tril_indices(3, 3))
T(x.new_zeros(3))
T(x.new_full((2,), 1.5))
T(x.new_tensor([1, 2]))
T(x.clone())

# Attributes, sizes, numbers.
I(x.size(0))
I(x.shape[0])
I(x.size()[1])
I(len(x))
I(x.numel())
I(x.dim())
I(x.ndim)
I(x.stride(0))
I(x.shape.numel())
I(x.element_size())
B(x.requires_grad)
B(x.is_contiguous())
B(x.is_floating_point())
B(x.dtype.is_floating_point)
B(x.dtype == torch.float32)
B(torch.is_tensor(x))
B(bool(x[0, 0]))
I(int(x.sum()))
S(x.device.type)
S(x.type())
S(str(x.dtype))
T(x.T)
T(x.mT)
T(x.data)
float(x.mean())
x.tolist()
n = x.item() + 1
first, second = x.shape

# Indexing.
T(x[0])
T(x[0, 1])
T(x[:, 1:])
T(x[..., None])
T(x[x > 0])
T(x[[0, 1]])
T(x[i])
T(x[i, :])
T(x[-1, ::2])
x[0] = 1.0
x[x > 0] = 0
x[:, 0] = i.float()
for row in x:
    T(row)
T(x.gather(1, i.view(3, 1)))
T(x.scatter(0, i.view(3, 1), 1.0))
T(x.index_select(0, i))
T(torch.take(x, i))
T(x.masked_fill(x > 0, float("-inf")))
T(torch.where(x > 0, x, torch.zeros_like(x)))
T(torch.where(x > 0, x, 0.0))
Ts(torch.where(x > 0))

# Arithmetic.
T(x + 1)
T(1 - x)
T(2.0 * x)
T(x / 2)
T(x // 2)
T(x % 2)
T(x**2)
T(2**x)
T(x @ x)
T(-x)
T(~(x > 0))
T((x > 0) & (x < 1))
T(x == x)
T(x != 1)
T(abs(x))
T(torch.add(x, x, alpha=2))
T(torch.add(x, 1))
T(x.mul_(2).add_(1))
T(x.div(2, rounding_mode="floor"))
T(torch.mul(x, x, out=x))
T(x.clamp(min=0))
T(torch.clamp(x, 0, 1))
T(torch.maximum(x, x))
T(x.to(torch.float64))
T(x.to("cpu"))
T(x.to(gpu, non_blocking=True))
T(x.to(device="cpu", dtype=torch.float16))
T(x.to(i))
T(x.float().half().bfloat16().long().bool())
T(x.cpu().detach())

# Reductions.
T(x.sum())
T(x.sum(0))
T(x.sum(dim=(0, 1), keepdim=True))
T(torch.sum(x, dtype=torch.float64))
T(x.mean(-1))
T(x.std())
T(x.var(dim=0, unbiased=False))
T(torch.std(x, dim=1, correction=0))
T(x.max())
T2(x.max(0))
T(x.max(dim=1).values)
T(x.min(1)[1])
T(x.max(x))
T(x.argmax(dim=1))
T(torch.argmin(x))
T(x.sort(descending=True).indices)
T2(torch.sort(x, dim=0, stable=True))
T(x.topk(2).values)
T2(torch.kthvalue(x, 2))
T2(x.median(0))
T(torch.cumsum(x, dim=0))
T2(torch.var_mean(x))
T(x.norm())
T(x.any(dim=1))
T(torch.all(x > 0))
T(torch.logsumexp(x, dim=(0, 1)))
T(torch.histc(x, bins=4))
T(torch.bincount(i))
T(torch.quantile(x, 0.5))
B(torch.equal(x, x))
B(torch.allclose(x, x, rtol=1e-3))

# Shapes.
T(x.view(-1))
T(x.view(9))
T(x.reshape((1, 9)))
T(x.permute(1, 0))
T(x.transpose(0, 1))
T(x.unsqueeze(0).squeeze())
T(x.expand(2, 3, 3))
T(x.repeat(2, 2))
T(x.flatten(1))
T(torch.flatten(x, start_dim=1))
T(x.contiguous())
T(torch.cat([x, x], dim=1))
T(torch.cat((x, x)))
T(torch.stack([x, x]))
Ts(x.split(1))
Ts(torch.split(x, [1, 2], dim=0))
Ts(x.chunk(3))
Ts(x.unbind(0))
T(torch.roll(x, 1, 0))
T(x.flip(0))
T(torch.tril(x))
T(torch.einsum("ij,jk->ik", x, x))
T(torch.tensordot(x, x, dims=1))
T(torch.outer(i, i))
Ts(torch.meshgrid(i, i, indexing="ij"))
T(torch.broadcast_to(x, (2, 3, 3)))

# linalg, fft, special.
T(torch.matmul(x, x))
T(torch.bmm(x[None], x[None]))
T(torch.linalg.norm(x))
T(torch.linalg.norm(x, ord=2, dim=1))
T(torch.linalg.det(x))
T(torch.linalg.inv(x))
T(torch.linalg.solve(x, x))
T(torch.linalg.svd(x).S)
T(torch.linalg.qr(x)[0])
T(torch.linalg.eigh(x).eigenvalues)
T(torch.linalg.cholesky(x))
T(torch.fft.fft(x))
T(torch.fft.rfft(x, n=8, dim=0, norm="ortho"))
T(torch.fft.irfft2(x))
T(torch.fft.fftfreq(8, d=0.1))
T(torch.special.erf(x))
T(torch.special.logit(x, eps=1e-6))

# Layers.
M(nn.Linear(3, 4, bias=False))
M(nn.Conv2d(3, 8, kernel_size=(3, 3), padding="same"))
M(nn.Conv2d(3, 8, 3, stride=2, padding=1, device="cpu", dtype=torch.float32))
M(nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Dropout(0.1)))
M(nn.Sequential(nn.Linear(3, 3))[0])
M(nn.ModuleList([net, net])[1])
M(nn.ModuleDict({"a": net})["a"])
M(nn.LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True))
M(nn.MultiheadAttention(8, 2, batch_first=True))
M(nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), num_layers=2))
M(nn.BatchNorm2d(3, affine=False))
M(nn.LayerNorm([3, 3], eps=1e-6))
M(nn.Embedding(10, 3, padding_idx=0))
M(nn.CrossEntropyLoss(weight=x, label_smoothing=0.1))
M(net.train().eval().to("cpu").half())
M(net.requires_grad_(False))
T(net(x))
T(net.weight)
I(net.in_features)
net.load_state_dict(net.state_dict(), strict=False)
for name, parameter in net.named_parameters():
    S(name)
    T(parameter.detach())
for child in net.children():
    M(child)
M(net.apply(lambda module: None))
net.register_buffer("b", x, persistent=False)
hook = net.register_forward_hook(lambda module, given, made: None)
hook.remove()
T(nn.Parameter(x, requires_grad=False))
T(nn.init.xavier_uniform_(x, gain=1.0))
T(nn.utils.clip_grad_norm_(net.parameters(), max_norm=1.0))

# functional.
T(F.relu(x))
T(F.relu(x, inplace=True))
T(F.softmax(x, dim=-1))
T(F.log_softmax(x, dim=1, dtype=torch.float32))
T(F.gelu(x, approximate="tanh"))
T(F.conv2d(x, x, stride=(2, 2), padding=1))
T(F.linear(x, x))
T(F.dropout(x, p=0.1, training=False))
T(F.cross_entropy(x, i, ignore_index=-1, reduction="sum"))
T(F.mse_loss(x, x))
T(F.layer_norm(x, (3,)))
T(F.pad(x, (1, 1)))
T(F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False))
T(F.one_hot(i, num_classes=5))
T(F.embedding(i, x))
T(F.scaled_dot_product_attention(x, x, x, is_causal=True))
T(F.max_pool2d(x, 2))
T(F.normalize(x, dim=0))

# optim, autograd, data.
opt.zero_grad()
opt.step()
opt.zero_grad(set_to_none=True)
torch.optim.AdamW(net.parameters(), lr=1e-3, betas=(0.9, 0.99), weight_decay=0.1)
torch.optim.Adam([{"params": [nn.Parameter(x)], "lr": 0.1}], lr=0.2)
opt.load_state_dict(opt.state_dict())
opt.param_groups[0]["lr"] = 0.5
torch.optim.lr_scheduler.StepLR(opt, step_size=3, gamma=0.1).step()
torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=10).get_last_lr()
x.sum().backward()
x.backward(torch.ones_like(x), retain_graph=True)
Ts(torch.autograd.grad(x.sum(), [x], create_graph=True))
with torch.no_grad():
    T(x * 2)
with torch.enable_grad(), torch.inference_mode(), torch.set_grad_enabled(False):
    T(x)
with torch.autocast("cpu", dtype=torch.bfloat16):
    T(net(x))
with torch.autograd.set_detect_anomaly(True):
    pass
scaler = torch.amp.GradScaler("cuda", enabled=False)
scaler.scale(x).backward()
scaler.step(opt)
scaler.update()


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, given: Tensor) -> Tensor:
        ctx.save_for_backward(given)
        return given * given

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return 2 * gradients[0]


Square.apply(x)


class Numbers(Dataset[int]):
    def __getitem__(self, index: int) -> int:
        return index

    def __len__(self) -> int:
        return 3


class Stream(IterableDataset[str]):
    def __iter__(self) -> Iterator[str]:
        yield "a"


class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, given: Tensor) -> Tensor:
        for layer in self.layers:
            given = layer(given)
        return given * self.scale


I(Numbers()[0])
for batch in DataLoader(Numbers(), batch_size=2, shuffle=True, num_workers=0):
    print(batch)
I(len(DataLoader(TensorDataset(x, x), batch_size=2)))
Ts(TensorDataset(x, x)[0])
Ts(torch.utils.data.random_split(TensorDataset(x), [1, 2])[0][0])
DataLoader(Stream(), batch_size=None)
T(Net(3).eval()(x))
T(Net(3).scale)

# jit, export, compile, func.
T(torch.jit.script(net)(x))
torch.jit.save(torch.jit.trace(net, x), "net.pt")
torch.jit.load("net.pt", map_location="cpu")
torch.export.export(net, (x,)).graph_module
torch.compile(net, fullgraph=True)(x)
torch.func.vmap(F.relu)(x)
torch.func.grad(lambda given: given.sum())(x)
torch.func.functional_call(net, {"weight": x}, (x,))
torch.save(net.state_dict(), "state.pt")
torch.save({"a": x}, io.BytesIO())
net.load_state_dict(torch.load("state.pt", map_location="cpu", weights_only=True))
torch.onnx.export(net, (x,), "net.onnx", input_names=["x"])
torch.fx.symbolic_trace(net).graph.lint()

# distributions, streams, settings.
T(torch.distributions.Normal(0.0, 1.0).sample())
T(torch.distributions.Normal(x, x).log_prob(x))
T(torch.distributions.Categorical(logits=x).sample((3,)))
T(torch.distributions.kl_divergence(torch.distributions.Normal(x, x), torch.distributions.Normal(x, x)))
torch.manual_seed(0)
I(torch.initial_seed())
I(g.manual_seed(3).initial_seed())
B(torch.cuda.is_available())
I(torch.cuda.device_count())
torch.cuda.Stream(device="cuda").synchronize()
torch.cuda.current_stream().wait_stream(torch.cuda.Stream())
torch.cuda.Event(enable_timing=True).record()
torch.cuda.synchronize()
torch.set_default_dtype(torch.float64)
torch.set_num_threads(2)
I(torch.get_num_threads())
torch.use_deterministic_algorithms(True)
torch.set_printoptions(precision=3)
I(torch.iinfo(torch.int8).max)
float(torch.finfo(torch.float32).eps)
torch.testing.assert_close(x, x, rtol=0, atol=0)
torch.backends.cudnn.benchmark = True
torch.promote_types(torch.int8, torch.float32).itemsize
x.untyped_storage().data_ptr()
S(torch.__version__)
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as p:
    T(net(x))
with torch.device("cpu"):
    T(torch.ones(3))
