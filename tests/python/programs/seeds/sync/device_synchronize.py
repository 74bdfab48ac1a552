import torch

# CPUデバイスを指定
device = torch.device("cpu")

# デバイス上のすべてのキューで実行中のすべてのカーネルの完了を待機
device.synchronize()

# 計算を実行
x = torch.randn(4, device="cpu")
y = x + x

# 結果を確認
print(y)
