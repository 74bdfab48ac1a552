import torch
import torch.nn as nn
import torch.cuda

# サンプル CNN を定義
class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, 1)
        self.relu1 = nn.ReLU()
        self.maxpool1 = nn.MaxPool2d(2)
        self.conv2 = nn.Conv2d(32, 64, 3, 1)
        self.relu2 = nn.ReLU()
        self.maxpool2 = nn.MaxPool2d(2)
        self.fc = nn.Linear(64 * 7 * 7, 10)

    def forward(self, x):
        # 28 x 28 -> 14 x 14 -> 7 x 7, as fc expects
        x = nn.functional.pad(x, (1, 1, 1, 1))
        x = self.maxpool1(self.relu1(self.conv1(x)))
        x = nn.functional.pad(x, (1, 1, 1, 1))
        x = self.maxpool2(self.relu2(self.conv2(x)))
        return self.fc(x.flatten(1))

# CNN を CUDA デバイスに移動
cnn = CNN().cuda()

# 入力データを作成
input = torch.randn(1, 1, 28, 28, device='cuda')

# CUDA グラフを作成
graphed_cnn = torch.cuda.make_graphed_callables(cnn)

# ネットワークを実行
output = graphed_cnn(input)

# 出力データを確認
print(output)
