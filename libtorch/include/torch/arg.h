// Fields of options: options.stride(2) sets and gives the options back,
// options.stride() reads.
#pragma once

#include <utility>

#define TORCH_ARG(T, name) \
 public: \
  auto name(const T& new_##name)->decltype(*this) { \
    this->name##_ = new_##name; \
    return *this; \
  } \
  auto name(T&& new_##name)->decltype(*this) { \
    this->name##_ = std::move(new_##name); \
    return *this; \
  } \
  const T& name() const noexcept { \
    return this->name##_; \
  } \
  T& name() noexcept { \
    return this->name##_; \
  } \
\
 private: \
  T name##_ /* NOLINT */
