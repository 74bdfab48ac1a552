import torch

print(torch.tensor([0.1, 0.2]))
# tensor([0.1000, 0.2000])

print(torch.tensor([0.1, 0.2], device=torch.device('cpu')))
# tensor([0.1000, 0.2000])

print(torch.tensor([0.1, 0.2], device='cpu'))
# tensor([0.1000, 0.2000])
