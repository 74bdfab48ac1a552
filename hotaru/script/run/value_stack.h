// The registers of all running functions of a thread.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "hotaru/core/value.h"

namespace hotaru::script {

/// A stack of values in chunks that never move. Memory is kept for the next
/// run; values above the top are always None.
class ValueStack {
 public:
  /// `count` empty values.
  Value* push(size_t count) {
    while (chunk_ < chunks_.size() &&
           chunks_[chunk_].size - chunks_[chunk_].used < count)
      ++chunk_;
    if (chunk_ == chunks_.size()) {
      size_t size = count > kChunk ? count : kChunk;
      chunks_.push_back({std::make_unique<Value[]>(size), size, 0});
    }
    Chunk& chunk = chunks_[chunk_];
    Value* out = chunk.values.get() + chunk.used;
    chunk.used += count;
    return out;
  }

  /// Empties and gives back the values pushed last.
  void pop(Value* values, size_t count) {
    for (size_t i = 0; i < count; ++i)
      if (!values[i].is_none()) values[i] = Value();
    chunks_[chunk_].used -= count;
    while (chunk_ > 0 && chunks_[chunk_].used == 0) --chunk_;
  }

 private:
  struct Chunk {
    std::unique_ptr<Value[]> values;
    size_t size;
    size_t used;
  };
  static constexpr size_t kChunk = 1024;

  std::vector<Chunk> chunks_;
  size_t chunk_ = 0;
};

}  // namespace hotaru::script
