// How a tensor's elements are kept. The numbers are those of archives.
#pragma once

#include <cstdint>
#include <ostream>

namespace c10 {

enum class Layout : int8_t {
  Strided,
  Sparse,
  SparseCsr,
  Mkldnn,
  SparseCsc,
  SparseBsr,
  SparseBsc,
  Jagged,
};

constexpr Layout kStrided = Layout::Strided;
constexpr Layout kSparse = Layout::Sparse;
constexpr Layout kSparseCsr = Layout::SparseCsr;
constexpr Layout kSparseCsc = Layout::SparseCsc;
constexpr Layout kSparseBsr = Layout::SparseBsr;
constexpr Layout kSparseBsc = Layout::SparseBsc;
constexpr Layout kMkldnn = Layout::Mkldnn;
constexpr Layout kJagged = Layout::Jagged;

std::ostream& operator<<(std::ostream& out, Layout layout);

}  // namespace c10
