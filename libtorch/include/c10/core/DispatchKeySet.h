// Some dispatch keys, as guards take them.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "c10/core/DispatchKey.h"

namespace c10 {

/// Calls carry none here: a set only says what a guard leaves out.
class DispatchKeySet final {
 public:
  constexpr DispatchKeySet() = default;
  constexpr explicit DispatchKeySet(DispatchKey key) : keys_(bit(key)) {}
  constexpr DispatchKeySet(std::initializer_list<DispatchKey> keys) {
    for (const DispatchKey key : keys) keys_ |= bit(key);
  }

  constexpr bool has(DispatchKey key) const { return keys_ & bit(key); }
  constexpr bool empty() const { return keys_ == 0; }
  constexpr DispatchKeySet add(DispatchKey key) const {
    return *this | DispatchKeySet(key);
  }
  constexpr DispatchKeySet operator|(DispatchKeySet other) const {
    other.keys_ |= keys_;
    return other;
  }
  constexpr bool operator==(const DispatchKeySet& other) const = default;

 private:
  static constexpr uint64_t bit(DispatchKey key) {
    return uint64_t(1) << static_cast<int>(key);
  }
  static_assert(static_cast<int>(
                    DispatchKey::CompositeExplicitAutogradNonFunctional) < 64);

  uint64_t keys_ = 0;
};

/// Keys that AutoDispatchBelowAutograd leaves out.
inline constexpr DispatchKeySet autograd_dispatch_keyset{
    DispatchKey::AutogradCPU, DispatchKey::AutogradCUDA,
    DispatchKey::AutogradMeta, DispatchKey::Autograd};

}  // namespace c10
