// Functions as the calling convention sees them, to compare declarations.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

namespace hotaru::cuda {

/// A parameter as the calling convention sees it.
struct Shape {
  size_t size;
  bool pointer, floating;

  bool operator==(const Shape&) const = default;
};

template <class T>
inline constexpr Shape kShape{sizeof(T), std::is_pointer_v<T>,
                              std::is_floating_point_v<T>};

template <>
inline constexpr Shape kShape<void>{0, false, false};

template <class R, class... P>
std::vector<Shape> shapes(R (*)(P...)) {
  return {kShape<R>, kShape<P>...};
}

}  // namespace hotaru::cuda
