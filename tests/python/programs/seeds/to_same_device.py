import torch

t_cpu = torch.tensor([0.1, 0.2])

t_cpu2 = t_cpu.to('cpu')
print(t_cpu is t_cpu2)
# True
