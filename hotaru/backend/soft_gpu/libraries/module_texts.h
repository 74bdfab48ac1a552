// Headers that a module is compiled with, kept as texts: where a program runs
// they may not be. module_texts.cpp is written by CMake.
#pragma once

#include <span>

namespace hotaru::soft_gpu {

struct ModuleText {
  const char* path;
  const char* text;
};

std::span<const ModuleText> module_texts();

}  // namespace hotaru::soft_gpu
