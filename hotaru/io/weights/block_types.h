// Types of tensors in GGUF files: plain elements, and blocks of quantised ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hotaru/core/dtype.h"

namespace hotaru::io {

/// A type by its number in files.
struct BlockType {
  /// Blocks of the type to floats.
  using Unpack = void (*)(const std::byte* blocks, int64_t count, float* out);

  uint32_t number;
  std::string_view name;
  uint32_t elements;                // of a block; 1 for plain types
  uint32_t nbytes;                  // of a block
  std::optional<DType> dtype = {};  // of plain types that tensors have here
  Unpack unpack = nullptr;          // of block types that are read
};

/// The type of that number or name, or null. Types without dtype and unpack are
/// known by name and size only.
const BlockType* find_block_type(uint32_t number);
const BlockType* find_block_type(std::string_view name);

/// Unpacks on all threads. `type` has unpack; `blocks` needs no alignment.
void unpack_blocks(const BlockType& type, const std::byte* blocks,
                   int64_t count, float* out);

}  // namespace hotaru::io
