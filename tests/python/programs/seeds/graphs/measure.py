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

# 入力データを作成
input = torch.randn(10, device='cuda')

# CUDA グラフを作成
graphed_net = torch.cuda.make_graphed_callables(net)

# ネットワークを実行 (10 回)
for _ in range(10):
    output = graphed_net(input)

# 平均実行時間を測定
start_event = torch.cuda.Event(enable_timing=True)
end_event = torch.cuda.Event(enable_timing=True)
with torch.cuda.profiler.profile():
    start_event.record()
    for _ in range(100):
        output = graphed_net(input)
    end_event.record()
    elapsed_time = start_event.elapsed_time(end_event) / 100

# 平均実行時間を表示
print(f"平均実行時間: {elapsed_time:.3f} ms")
