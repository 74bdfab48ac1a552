import torch
import time

# CPUデバイス上にテンソルを作成
x = torch.randn(1000, device="cpu")

# 計算を実行
start = time.time()
for _ in range(100):
    y = x + x
end = time.time()
print(f"計算時間: {end - start}秒")

# CPUデバイス上のすべてのキューで実行中のすべてのカーネルの完了を待機
torch.cpu.synchronize()

# ベンチマーク結果を測定
start = time.time()
for _ in range(100):
    y = x + x
end = time.time()
print(f"ベンチマーク時間: {end - start}秒")
