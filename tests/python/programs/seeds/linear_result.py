import torch

device = torch.device('cuda:0') if torch.cuda.is_available() else torch.device('cpu')

t = torch.tensor([0.1, 0.2], device=device)

torch.manual_seed(0)
net = torch.nn.Linear(2, 2)
net.to(device)

print(net(t))
# tensor([-0.1970,  0.0273], grad_fn=<AddBackward0>)
