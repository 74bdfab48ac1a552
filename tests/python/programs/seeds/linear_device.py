import torch

torch.manual_seed(0)

net = torch.nn.Linear(2, 2)
print(isinstance(net, torch.nn.Module))
# True

print(net.weight.device)
# cpu

net.cpu()
print(net.weight.device)
# cpu
