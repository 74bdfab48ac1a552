// PyTorch's hash maps by name.
#pragma once

#include <unordered_map>
#include <unordered_set>

namespace ska {

template <class... Args>
using flat_hash_map = std::unordered_map<Args...>;
template <class... Args>
using flat_hash_set = std::unordered_set<Args...>;

}  // namespace ska
