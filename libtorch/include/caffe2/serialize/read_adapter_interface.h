// Files that programs read in a way of their own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace caffe2::serialize {

class ReadAdapterInterface {
 public:
  virtual ~ReadAdapterInterface() = default;
  virtual size_t size() const = 0;
  /// Bytes that were read, from `pos` on; `what` is for messages.
  virtual size_t read(uint64_t pos, void* buf, size_t n,
                      const char* what = "") const = 0;
};

}  // namespace caffe2::serialize
