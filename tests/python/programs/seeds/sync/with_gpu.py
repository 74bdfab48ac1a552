import torch

# CPUデバイス上にテンソルを作成
x = torch.randn(4)

# GPUデバイスにテンソルを転送
x = x.to("cuda")

# GPUデバイス上で計算を実行
y = x + x

# CPUデバイスに結果を転送
y = y.cpu()

# CPUデバイス上のすべてのキューで実行中のすべてのカーネルの完了を待機
torch.cpu.synchronize()

# 結果を確認
print(y)
