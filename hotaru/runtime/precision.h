// How exactly products of float32 have to be computed: permissions that a
// program gives (torch.backends.cuda.matmul.allow_tf32 and its like). The CPU's
// kernels and hotaru's own CUDA kernels never make use of them; NVIDIA's
// libraries do. Process-wide, thread-safe.
#pragma once

#include <cstdint>

namespace hotaru {

enum class Tf32 : uint8_t { kMatmul, kConv };

/// Whether factors may be rounded to 10 bits behind the point. As in PyTorch,
/// at first convolutions may, products may not.
bool allows_tf32(Tf32 where);
void set_allows_tf32(Tf32 where, bool allows);

}  // namespace hotaru
