import torch

device = torch.device('cuda:0') if torch.cuda.is_available() else torch.device('cpu')
print(device)
# cpu

t = torch.tensor([0.1, 0.2], device=device)
