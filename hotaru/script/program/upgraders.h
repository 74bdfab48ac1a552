// Operators as older archives mean them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "hotaru/script/source/source.h"

namespace hotaru::script {

/// A call in an archive, as far as its meaning depends on the file's version.
struct OldCall {
  std::string_view name;         // "div", "div_", "full" ...
  int64_t version = 0;           // of the archive
  bool of_tensor = false;        // the first argument is a tensor
  bool other_is_tensor = false;  // so is the second
  bool out = false;              // it has an argument `out`
  bool rounding = false;         // and one of `rounding_mode`
};

/// Module that upgraders are functions of.
inline constexpr std::string_view kUpgraders = "__torch__._upgraders";

/// From the next version on every operator means what it means today.
inline constexpr int64_t kLastUpgraded = 8;

/// The function of that module which does what the call did when the file was
/// written; empty where nothing changed. The versions and meanings are those
/// of PyTorch's operator_upgraders: before version 4 `div` of integers was
/// truncated, before 5 `full` of an integer was a tensor of floats, before 8
/// (9 for `logspace`) `linspace` might leave out its steps.
std::string_view upgrader_of(const OldCall& call);

/// The source of that module; null for others.
std::unique_ptr<Source> upgraders_source(std::string_view module);

}  // namespace hotaru::script
