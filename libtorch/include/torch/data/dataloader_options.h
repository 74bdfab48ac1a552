#pragma once

#include <chrono>
#include <optional>

#include "torch/arg.h"
#include "torch/types.h"

namespace torch::data {

struct DataLoaderOptions {
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size) : batch_size_(batch_size) {}
  TORCH_ARG(size_t, batch_size) = 1;
  /// Batches that are made at a time, by tasks of the process's pool; 0: by
  /// whoever asks for them.
  TORCH_ARG(size_t, workers) = 0;
  /// Batches that are made ahead; twice the workers unless said.
  TORCH_ARG(std::optional<size_t>, max_jobs);
  /// How long to wait for a batch.
  TORCH_ARG(std::optional<std::chrono::milliseconds>, timeout);
  /// Batches come in the order of their requests, or as they are ready.
  TORCH_ARG(bool, enforce_ordering) = true;
  /// Set if a last batch that is not full is left out.
  TORCH_ARG(bool, drop_last) = false;
};

struct FullDataLoaderOptions {
  explicit FullDataLoaderOptions(DataLoaderOptions options)
      : batch_size(options.batch_size()),
        workers(options.workers()),
        max_jobs(options.max_jobs().value_or(2 * options.workers())),
        timeout(options.timeout()),
        enforce_ordering(options.enforce_ordering()),
        drop_last(options.drop_last()) {}

  size_t batch_size, workers, max_jobs;
  std::optional<std::chrono::milliseconds> timeout;
  bool enforce_ordering, drop_last;
};

}  // namespace torch::data
