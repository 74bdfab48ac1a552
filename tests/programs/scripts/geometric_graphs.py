"""torch-geometric: layers on random graphs, batches of graphs."""

import sys

import torch
import torch.nn.functional as F
from probe import emit, gradients
from torch_geometric import nn
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

torch.manual_seed(0)


def graph(nodes: int = 12):
    edges = to_undirected(torch.randint(0, nodes, (2, 2 * nodes)))
    return Data(x=torch.randn(nodes, 6), edge_index=edges, y=torch.randint(3, (nodes,)))


def train(first, second) -> None:
    data = graph()
    params = [*first.parameters(), *second.parameters()]
    optimizer = torch.optim.Adam(params, lr=0.01)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        hidden = F.dropout(F.relu(first(data.x, data.edge_index)), 0.3)
        loss = F.cross_entropy(second(hidden, data.edge_index), data.y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    emit(losses=losses, gradients=gradients(first))


def gcn() -> None:
    train(nn.GCNConv(6, 8), nn.GCNConv(8, 3))


def gat() -> None:
    train(nn.GATConv(6, 4, heads=2), nn.GATv2Conv(8, 3))


def sage() -> None:
    train(nn.SAGEConv(6, 8), nn.SAGEConv(8, 3, aggr="max"))


def gin() -> None:
    mlp = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU())
    train(nn.GINConv(mlp), nn.TransformerConv(8, 3))


def batch() -> None:
    from torch_geometric.loader import DataLoader

    graphs = [graph(n) for n in (5, 8, 11, 6)]
    conv = nn.GraphConv(6, 4)
    for some in DataLoader(graphs, batch_size=2, shuffle=True):
        out = conv(some.x, some.edge_index)
        emit(
            batch=some.batch,
            mean=nn.global_mean_pool(out, some.batch),
            most=nn.global_max_pool(out, some.batch),
            norm=nn.BatchNorm(4)(out),
        )


globals()[sys.argv[1]]()
