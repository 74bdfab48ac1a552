// Some dispatch keys, as guards take them.
#pragma once

#include <initializer_list>
#include <set>

#include "c10/core/DispatchKey.h"

namespace c10 {

/// Calls carry none here: a set only says what a guard leaves out.
class DispatchKeySet final {
 public:
  DispatchKeySet() = default;
  explicit DispatchKeySet(DispatchKey key) : keys_{key} {}
  DispatchKeySet(std::initializer_list<DispatchKey> keys) : keys_(keys) {}

  bool has(DispatchKey key) const { return keys_.contains(key); }
  bool empty() const { return keys_.empty(); }
  DispatchKeySet add(DispatchKey key) const {
    return *this | DispatchKeySet(key);
  }
  DispatchKeySet operator|(const DispatchKeySet& other) const {
    DispatchKeySet out = *this;
    out.keys_.insert(other.keys_.begin(), other.keys_.end());
    return out;
  }
  bool operator==(const DispatchKeySet& other) const = default;

 private:
  std::set<DispatchKey> keys_;
};

/// What AutoDispatchBelowAutograd leaves out.
inline const DispatchKeySet autograd_dispatch_keyset{
    DispatchKey::AutogradCPU, DispatchKey::AutogradCUDA,
    DispatchKey::AutogradMeta, DispatchKey::Autograd};

}  // namespace c10
