"""Calls that a type checker refuses, one a line; no test runs them.

A line is a case: with a name that is not there, an argument of another kind or
number, or a result taken for what it is not. As `calls_right.py` they are
written for PyTorch.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset


def T(value: Tensor) -> None: ...
def I(value: int) -> None: ...
def S(value: str) -> None: ...


class Numbers(Dataset[int]):
    def __getitem__(self, index: int) -> int:
        return index


x = torch.ones(3, 3)
i = torch.arange(3)
g = torch.Generator()
net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)

# Names.
torch.zeross(3)
torch.Float32
torch.float31
torch.linalg.svdd(x)
torch.fft.ffft(x)
torch.nn.Linaer(3, 3)
F.rellu(x)
torch.optim.Adamm(net.parameters())
torch.distributions.Norml(0, 1)
torch.cuda.is_avaliable()
torch.special.errf(x)
torch.utils.data.Dataloader(x)
torch.autograd.gradd(x, x)
torch.func.vmapp(F.relu)
torch.jit.scripted(net)
torch.sparse.mmm(x, x)
torch.backends.cudnnn.benchmark
torch.amp.GradScalerr()
torch.export.exported(net)
torch.fx.symbolic_traced(net)
x.summ()
x.shap
x.requires_gradd = True
x.max(0).vals
x.device.kind
x.dtype.size
x.shape.numell()
g.seeds()
opt.steps()
net.zero_grads_of_all().x
torch.max(x, 0).V_

# Arguments.
torch.zeros("3")
torch.zeros(2, dtype="float32")
torch.zeros(2, dtype=float("nan"))
torch.ones(2.5)
torch.full((2, 2))
torch.arange("a")
torch.cat(x, dim="0")
torch.cat([1, 2])
torch.stack([x, 3])
torch.get_default_dtype().size
torch.randn(2, generator=3)
torch.tensor([1], device=1.5)
torch.tensor([1], dtyp=torch.int8)
torch.where(x > 0, x, "a")
torch.matmul(x, 3)
torch.einsum(equation=3, operands="a").foo
x.view("a")
x.sum(dim="a")
x.max(0, "a")
x.to(1.5)
x["a"]
x[0] = "a"
x + "a"
torch.bmm(x, 3)
x.permute("a", "b")
x.clamp(min="0")
x.size("a")
x.requires_grad_("yes", 3)
nn.Linear("3", 3)
nn.Linear(3)
nn.Conv2d(3, 8, kernel_size="3x3")
nn.Dropout("a")
nn.Embedding(10, 3, padding_index=0)
F.relu(3)
F.softmax(x, dim="a")
F.cross_entropy(x)
F.dropout(x, p="a")
torch.optim.SGD(net.parameters(), lr="fast")
torch.optim.Adam(net.parameters(), beta=0.9)
torch.optim.lr_scheduler.StepLR(opt)
DataLoader(Numbers(), batch_size="2")
DataLoader(3)
torch.device(1.5)
torch.load()
torch.save(net)
torch.set_num_threads("a")
torch.cuda.set_device(1.5)

# Results.
I(torch.ones(3))
T(x.shape)
S(x.device)
T(x.size(0))
T(x.max(0))
I(x.stride())
T(torch.split(x, 1))
T(torch.is_tensor(x))
I(Numbers()[0].upper())
S(torch.cuda.is_available())
I(torch.initial_seed().foo)
S(net.in_features)
