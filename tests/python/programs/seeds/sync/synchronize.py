import torch

# CPUデバイス上にテンソルを作成
x = torch.randn(4, device="cpu")

# 計算を実行
y = x + x

# CPUデバイス上のすべてのキューで実行中のすべてのカーネルの完了を待機
torch.cpu.synchronize()

# 結果を確認
print(y)
