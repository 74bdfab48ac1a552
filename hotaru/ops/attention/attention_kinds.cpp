#include "hotaru/ops/attention/attention_kinds.h"

#include <atomic>

#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

constexpr int kKinds = 5, kBits = 4;

/// Kinds plus one, kBits each, the first in the lowest bits; 0 ends them.
constexpr uint32_t packed(std::span<const int> kinds) {
  uint32_t bits = 0;
  for (size_t i = kinds.size(); i-- > 0;)
    bits = bits << kBits | uint32_t(kinds[i] + 1);
  return bits;
}

constexpr int kDefault[] = {
    int(AttentionKind::kFlash), int(AttentionKind::kEfficient),
    int(AttentionKind::kMath), int(AttentionKind::kCudnn),
    int(AttentionKind::kOverrideable)};
constinit std::atomic<uint32_t> allowed{packed(kDefault)};

bool allows(uint32_t kinds, AttentionKind kind) {
  for (; kinds; kinds >>= kBits)
    if (AttentionKind((kinds & ((1 << kBits) - 1)) - 1) == kind) return true;
  return false;
}

void warn_of(uint32_t kinds, AttentionKind kind, const std::string& name,
             const std::string& disabled, const std::string& refusal) {
  warn(name + " kernel not used because:");
  warn(allows(kinds, kind) ? refusal
                           : disabled + " has been runtime disabled.");
}

}  // namespace

void set_attention_kinds(std::span<const int> kinds) {
  HOTARU_CHECK(kinds.size() <= size_t(kKinds), "there are only ", kKinds,
               " kinds of attention");
  for (const int kind : kinds)
    HOTARU_CHECK(kind >= 0 && kind < kKinds, "no kind of attention: ", kind);
  allowed.store(packed(kinds), std::memory_order_relaxed);
}

std::vector<int> attention_kinds() {
  std::vector<int> kinds;
  uint32_t rest = allowed.load(std::memory_order_relaxed);
  for (; rest; rest >>= kBits)
    kinds.push_back(int(rest & ((1 << kBits) - 1)) - 1);
  return kinds;
}

bool takes_fused_attention(const std::string& refusal) {
  const uint32_t now = allowed.load(std::memory_order_relaxed);
  const bool known = allows(now, AttentionKind::kMath) ||
                     allows(now, AttentionKind::kFlash) ||
                     allows(now, AttentionKind::kEfficient) ||
                     allows(now, AttentionKind::kCudnn);
  HOTARU_CHECK(known,
               "No viable backend for scaled_dot_product_attention was found. "
               "This is likely due to turning off both the math kernel and the "
               "fused kernels.");
  for (uint32_t rest = now; rest; rest >>= kBits) {
    const auto kind = AttentionKind((rest & ((1 << kBits) - 1)) - 1);
    if (kind == AttentionKind::kMath) return false;
    if ((kind == AttentionKind::kFlash || kind == AttentionKind::kEfficient) &&
        refusal.empty())
      return true;
  }
  warn_of(now, AttentionKind::kEfficient, "Memory efficient",
          "Memory Efficient attention", refusal);
  warn_of(now, AttentionKind::kFlash, "Flash attention", "Flash attention",
          refusal);
  warn_of(now, AttentionKind::kCudnn, "cuDNN attention", "cuDNN attention",
          "hotaru does not call cuDNN's attention; its own kernels are "
          "FLASH_ATTENTION and EFFICIENT_ATTENTION.");
  fail<Error>("No available kernel. Aborting execution.");
}

}  // namespace hotaru
