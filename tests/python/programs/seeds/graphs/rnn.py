import torch
import torch.nn as nn
import torch.cuda

# サンプル RNN を定義
class RNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(64, 32)
        self.fc = nn.Linear(32, 10)

    def forward(self, x):
        output, _ = self.rnn(x)
        return self.fc(output)

# RNN を CUDA デバイスに移動
rnn = RNN().cuda()

# 入力データを作成
input = torch.randn(10, 64, device='cuda')

# CUDA グラフを作成
graphed_rnn = torch.cuda.make_graphed_callables(rnn)

# ネットワークを実行
output = graphed_rnn(input)

# 出力データを確認
print(output)
