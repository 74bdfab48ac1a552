// Names that options choose from: torch::kMean, torch::kReLU.
#pragma once

#include <string>
#include <variant>

#include "c10/util/Exception.h"

namespace torch {

#define HOTARU_TORCH_ENUM(name) \
  namespace enumtype { \
  struct k##name { \
    static constexpr const char* text = "k" #name; \
  }; \
  } \
  inline constexpr enumtype::k##name k##name{};
HOTARU_TORCH_ENUM(Linear)
HOTARU_TORCH_ENUM(Conv1D)
HOTARU_TORCH_ENUM(Conv2D)
HOTARU_TORCH_ENUM(Conv3D)
HOTARU_TORCH_ENUM(ConvTranspose1D)
HOTARU_TORCH_ENUM(ConvTranspose2D)
HOTARU_TORCH_ENUM(ConvTranspose3D)
HOTARU_TORCH_ENUM(Sigmoid)
HOTARU_TORCH_ENUM(Tanh)
HOTARU_TORCH_ENUM(ReLU)
HOTARU_TORCH_ENUM(GELU)
HOTARU_TORCH_ENUM(SiLU)
HOTARU_TORCH_ENUM(Mish)
HOTARU_TORCH_ENUM(LeakyReLU)
HOTARU_TORCH_ENUM(FanIn)
HOTARU_TORCH_ENUM(FanOut)
HOTARU_TORCH_ENUM(Constant)
HOTARU_TORCH_ENUM(Reflect)
HOTARU_TORCH_ENUM(Replicate)
HOTARU_TORCH_ENUM(Circular)
HOTARU_TORCH_ENUM(Nearest)
HOTARU_TORCH_ENUM(Bilinear)
HOTARU_TORCH_ENUM(Bicubic)
HOTARU_TORCH_ENUM(Trilinear)
HOTARU_TORCH_ENUM(Area)
HOTARU_TORCH_ENUM(NearestExact)
HOTARU_TORCH_ENUM(Sum)
HOTARU_TORCH_ENUM(Mean)
HOTARU_TORCH_ENUM(Max)
HOTARU_TORCH_ENUM(None)
HOTARU_TORCH_ENUM(BatchMean)
HOTARU_TORCH_ENUM(Zeros)
HOTARU_TORCH_ENUM(Border)
HOTARU_TORCH_ENUM(Reflection)
HOTARU_TORCH_ENUM(RNN_TANH)
HOTARU_TORCH_ENUM(RNN_RELU)
HOTARU_TORCH_ENUM(LSTM)
HOTARU_TORCH_ENUM(GRU)
HOTARU_TORCH_ENUM(Valid)
HOTARU_TORCH_ENUM(Same)
#undef HOTARU_TORCH_ENUM

namespace enumtype {

/// "kMean".
template <class Variant>
std::string get_enum_name(const Variant& variant) {
  return std::visit(
      [](const auto& v) {
        return std::string(std::decay_t<decltype(v)>::text);
      },
      variant);
}

/// at::Reduction's number.
template <class Variant>
int64_t reduction_get_enum(const Variant& variant) {
  if (std::holds_alternative<kMean>(variant)) return 1;
  if (std::holds_alternative<kSum>(variant)) return 2;
  return 0;
}

}  // namespace enumtype
}  // namespace torch

/// Constructors of an options class from each of a variant's names, since two
/// conversions in a row are not implicit.
#define TORCH_OPTIONS_CTOR_VARIANT_ARG3(Options, field, A, B, C) \
  Options() = default; \
  Options(::torch::enumtype::A) : field##_(::torch::A) {} \
  Options(::torch::enumtype::B) : field##_(::torch::B) {} \
  Options(::torch::enumtype::C) : field##_(::torch::C) {}
#define TORCH_OPTIONS_CTOR_VARIANT_ARG4(Options, field, A, B, C, D) \
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(Options, field, A, B, C) \
  Options(::torch::enumtype::D) : field##_(::torch::D) {}

namespace torch {
/// Tells whether a variant holds this name.
template <class Name, class Variant>
bool is_chosen(const Variant& variant) {
  return std::holds_alternative<Name>(variant);
}
}  // namespace torch
