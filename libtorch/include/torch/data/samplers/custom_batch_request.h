// Base of requests for batches that are neither indices nor a size.
#pragma once

#include <cstddef>

namespace torch::data::samplers {

struct CustomBatchRequest {
  CustomBatchRequest() = default;
  CustomBatchRequest(const CustomBatchRequest&) = default;
  CustomBatchRequest(CustomBatchRequest&&) noexcept = default;
  virtual ~CustomBatchRequest() = default;

  /// Examples that it asks for.
  virtual size_t size() const = 0;
};

}  // namespace torch::data::samplers
