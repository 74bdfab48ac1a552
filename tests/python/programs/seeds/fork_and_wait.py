# The notes on inference threads leave out where the weights come from: here
# they are a module's parameters, and the two functions its methods.
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w_y = torch.nn.Parameter(torch.full((3, 2), 1.0))
        self.w_z = torch.nn.Parameter(torch.full((3, 2), 0.5))

    def compute_z(self, x):
        return torch.mm(x, self.w_z)

    def forward(self, x):
        # launch compute_z asynchronously:
        fut = torch.jit._fork(self.compute_z, x)
        # execute the next operation in parallel to compute_z:
        y = torch.mm(x, self.w_y)
        # wait for the result of compute_z:
        z = torch.jit._wait(fut)
        return y + z


@torch.jit.script
def compute_z(x, w_z):
    return torch.mm(x, w_z)


@torch.jit.script
def forward(x, w_y, w_z):
    fut = torch.jit._fork(compute_z, x, w_z)
    y = torch.mm(x, w_y)
    z = torch.jit._wait(fut)
    return y + z


net = Net()
x = torch.arange(6.0).reshape(2, 3)
print(net(x).tolist())
# [[4.5, 4.5], [18.0, 18.0]]
print(torch.jit.script(net)(x).tolist())
# [[4.5, 4.5], [18.0, 18.0]]
print(forward(x, net.w_y, net.w_z).tolist())
# [[4.5, 4.5], [18.0, 18.0]]
torch.jit.script(net)(x).sum().backward()
print(net.w_z.grad.tolist())
# [[3.0, 3.0], [5.0, 5.0], [7.0, 7.0]]
