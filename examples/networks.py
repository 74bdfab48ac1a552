"""Three small networks at batch 1: a perceptron, a convolutional, a recurrent.

    python -m hotaru examples/networks.py

runs them without PyTorch; `python examples/networks.py` runs them with it and
prints the same numbers.
"""

import torch
import torch.nn as nn


class MLP(nn.Module):
    """Ten features to ten scores: (10,) or (N, 10) to the same shape."""

    def __init__(self):
        super().__init__()
        self.linear1 = nn.Linear(10, 64)
        self.relu = nn.ReLU()
        self.linear2 = nn.Linear(64, 10)

    def forward(self, x):
        return self.linear2(self.relu(self.linear1(x)))


class CNN(nn.Module):
    """Pictures (N, 1, 28, 28) to scores (N, 10)."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, 1, padding=1)
        self.relu1 = nn.ReLU()
        self.maxpool1 = nn.MaxPool2d(2)
        self.conv2 = nn.Conv2d(32, 64, 3, 1, padding=1)
        self.relu2 = nn.ReLU()
        self.maxpool2 = nn.MaxPool2d(2)
        self.fc = nn.Linear(64 * 7 * 7, 10)

    def forward(self, x):
        x = self.maxpool1(self.relu1(self.conv1(x)))
        x = self.maxpool2(self.relu2(self.conv2(x)))
        return self.fc(torch.flatten(x, 1))


class RNN(nn.Module):
    """A sequence (L, 64) to a score for every step, (L, 10)."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(64, 32)
        self.fc = nn.Linear(32, 10)

    def forward(self, x):
        output, _ = self.rnn(x)
        return self.fc(output)


# Each network with the shape of the input it is shown.
NETWORKS = {"MLP": (MLP, (10,)), "CNN": (CNN, (1, 1, 28, 28)), "RNN": (RNN, (10, 64))}


def make(name):
    """The network with fresh weights, in eval mode, and an input for it."""
    network, shape = NETWORKS[name]
    torch.manual_seed(0)
    return network().eval(), torch.randn(shape)


def main():
    for name in NETWORKS:
        network, x = make(name)
        with torch.no_grad():
            y = network(x)
        parameters = sum(p.numel() for p in network.parameters())
        print(f"{name}: {parameters} parameters, {tuple(x.shape)} to")
        print(y)


if __name__ == "__main__":
    main()
