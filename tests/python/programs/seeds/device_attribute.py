import torch

t_cpu = torch.tensor([0.1, 0.2])
print(t_cpu.device)
# cpu

print(type(t_cpu.device))
# <class 'torch.device'>

print(t_cpu.is_cuda)
# False
