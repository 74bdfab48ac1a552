// Working memory of a transform.
#pragma once

#include <new>

#include "hotaru/backend/cpu/block_cache.h"

namespace hotaru::cpu::fft {

/// Uninitialised, aligned to cache lines, from the blocks that are used again.
template <class T>
class Room {
 public:
  explicit Room(int64_t count)
      : bytes_(size_t(count) * sizeof(T)),
        data_(static_cast<T*>(BlockCache::instance().allocate(bytes_))) {
    if (!data_) throw std::bad_alloc();
  }
  ~Room() { BlockCache::instance().release(data_, bytes_); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  T* data() const { return data_; }

 private:
  size_t bytes_;
  T* data_;
};

}  // namespace hotaru::cpu::fft
