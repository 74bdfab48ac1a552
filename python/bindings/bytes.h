// Bytes of Python's as the library takes them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <vector>

namespace hotaru::python {

/// A copy, which outlives the object and needs no GIL.
inline std::vector<std::byte> to_bytes(const nanobind::bytes& data) {
  const auto* first = reinterpret_cast<const std::byte*>(data.c_str());
  return {first, first + data.size()};
}

}  // namespace hotaru::python
