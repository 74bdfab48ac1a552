import torch

# CPUストリームを作成
stream = torch.cpu.Stream()

# 計算をストリームに割り当て
with torch.cuda.stream(stream):
    x = torch.randn(4, device="cpu")
    y = x + x

# ストリームの完了を待機
stream.synchronize()

# 結果を確認
print(y)
