// Which ways of computing attention a program allows, and which one is taken
// (torch.nn.attention.sdpa_kernel, torch.backends.cuda.enable_flash_sdp).
// Process-wide, thread-safe.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace hotaru {

/// PyTorch's kinds, by its numbers.
enum class AttentionKind : int {
  kMath = 0,
  kFlash = 1,
  kEfficient = 2,
  kCudnn = 3,
  kOverrideable = 4,
};

/// The kinds that are allowed, the first to be tried first. Throws Error for
/// numbers that name none, and for more than there are.
void set_attention_kinds(std::span<const int> kinds);
/// The kinds that are allowed.
std::vector<int> attention_kinds();

/// Tells whether fused kernels, which are both kFlash and kEfficient, are taken
/// rather than products and softmax, kMath. refusal: why the kernels cannot
/// serve; empty if they can. Throws, after warnings that tell why, if nothing
/// that is allowed serves.
bool takes_fused_attention(const std::string& refusal);

}  // namespace hotaru
