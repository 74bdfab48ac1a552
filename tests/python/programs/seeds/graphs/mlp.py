import torch
import torch.nn as nn
import torch.cuda

# サンプルネットワークを定義
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear1 = nn.Linear(10, 64)
        self.relu = nn.ReLU()
        self.linear2 = nn.Linear(64, 10)

    def forward(self, x):
        return self.linear2(self.relu(self.linear1(x)))

# ネットワークを CUDA デバイスに移動
net = Net().cuda()

# CUDA グラフを作成
graphed_net = torch.cuda.make_graphed_callables(net)

# 入力データを作成
input = torch.randn(10, device='cuda')

# ネットワークを実行
output = graphed_net(input)

# 出力データを確認
print(output)
