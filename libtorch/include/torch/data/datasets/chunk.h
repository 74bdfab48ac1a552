// A dataset that is read in chunks, ahead of who takes its batches.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "hotaru/runtime/threads/scheduler.h"
#include "torch/arg.h"
#include "torch/data/datasets/stateful.h"
#include "torch/data/samplers.h"
#include "torch/data/worker_exception.h"

namespace torch::data::datasets {

/// Reads chunks of examples. read_chunk is called from several threads at once.
template <class Example, class Chunk = std::vector<Example>>
class ChunkDataReader {
 public:
  using ChunkType = Chunk;
  using ExampleType = Example;

  virtual ~ChunkDataReader() = default;
  virtual ChunkType read_chunk(size_t chunk_index) = 0;
  virtual size_t chunk_count() = 0;
  /// Before each epoch.
  virtual void reset() = 0;
};

struct ChunkDatasetOptions {
  ChunkDatasetOptions() = delete;
  ChunkDatasetOptions(size_t preloader_count, size_t batch_size,
                      size_t cache_size = 2048,
                      size_t cross_chunk_shuffle_count = 1)
      : preloader_count_(preloader_count),
        batch_size_(batch_size),
        cache_size_(cache_size),
        cross_chunk_shuffle_count_(cross_chunk_shuffle_count) {
    TORCH_CHECK(
        preloader_count > 0,
        "Preloader count is 0. At least one preloader needs to be specified.");
    TORCH_CHECK(batch_size > 0,
                "Batch size is 0. A positive batch size needs to be "
                "specified.");
    TORCH_CHECK(cache_size > 0,
                "Cache size is 0. A positive cache size needs to be "
                "specified.");
    TORCH_CHECK(cache_size >= batch_size,
                "Cache size is less than batch size. Cache needs to be large "
                "enough to hold at least one batch.");
    TORCH_CHECK(cross_chunk_shuffle_count > 0,
                "cross_chunk_shuffle_count needs to be greater than 0.");
  }

  /// Chunks that are read at a time, by tasks of the process's pool.
  TORCH_ARG(size_t, preloader_count);
  TORCH_ARG(size_t, batch_size);
  /// Examples from which on nothing is read ahead.
  TORCH_ARG(size_t, cache_size) = 2048;
  /// Chunks whose examples are mixed.
  TORCH_ARG(size_t, cross_chunk_shuffle_count) = 1;
};

/// Batches out of chunks, which come in an order of ChunkSampler's, the
/// examples of each in one of ExampleSampler's. get_batch may be called from
/// several threads; a last batch may be smaller.
template <class ChunkReader, class ChunkSampler = samplers::RandomSampler,
          class ExampleSampler = samplers::RandomSampler>
class ChunkDataset final
    : public StatefulDataset<
          ChunkDataset<ChunkReader, ChunkSampler, ExampleSampler>,
          typename ChunkReader::ChunkType, size_t> {
 public:
  using UnwrappedBatchType = typename ChunkReader::ChunkType;
  using BatchType = std::optional<UnwrappedBatchType>;
  using BatchRequestType = size_t;
  using Policy = std::function<void(UnwrappedBatchType&)>;

  /// The policy changes chunks that were read, before the examples are drawn.
  ChunkDataset(ChunkReader reader, ChunkSampler chunk_sampler,
               ExampleSampler example_sampler, ChunkDatasetOptions options,
               Policy preprocessing_policy = {})
      : shared_(std::make_shared<Shared>(
            std::move(reader), std::move(chunk_sampler),
            std::move(example_sampler), std::move(options),
            std::move(preprocessing_policy))) {}
  ChunkDataset(const ChunkDataset&) = delete;
  ChunkDataset& operator=(const ChunkDataset&) = delete;
  ~ChunkDataset() override { shared_->stop(); }

  BatchType get_batch(size_t batch_size) override {
    return shared_->take(batch_size);
  }
  BatchType get_batch() { return get_batch(shared_->options.batch_size()); }
  void reset() override { Shared::restart(shared_); }
  std::optional<size_t> size() const override { return std::nullopt; }
  /// Not thread-safe beside get_batch.
  ChunkSampler& chunk_sampler() { return shared_->chunk_sampler; }

  void save(serialize::OutputArchive& archive) const override {
    const std::lock_guard lock(shared_->mutex);
    shared_->chunk_sampler.save(archive);
  }
  /// The next reset() goes on from there.
  void load(serialize::InputArchive& archive) override {
    const std::lock_guard lock(shared_->mutex);
    // The archive may say nothing of how many there are.
    shared_->chunk_sampler.reset(shared_->reader.chunk_count());
    shared_->chunk_sampler.load(archive);
    shared_->loaded = true;
  }

 private:
  using Example = typename ChunkReader::ExampleType;

  /// Lets go of a lock for a scope.
  struct Unlocked {
    explicit Unlocked(std::unique_lock<std::mutex>& lock) : lock(lock) {
      lock.unlock();
    }
    ~Unlocked() { lock.lock(); }
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;
    std::unique_lock<std::mutex>& lock;
  };

  /// State that tasks keep alive.
  struct Shared {
    Shared(ChunkReader reader, ChunkSampler chunk_sampler,
           ExampleSampler example_sampler, ChunkDatasetOptions options,
           Policy policy)
        : reader(std::move(reader)),
          chunk_sampler(std::move(chunk_sampler)),
          example_sampler(std::move(example_sampler)),
          options(std::move(options)),
          policy(std::move(policy)) {}

    /// Forgets what was read, and begins.
    static void restart(const std::shared_ptr<Shared>& self) {
      self->stop();
      std::unique_lock lock(self->mutex);
      self->examples.clear();
      self->errors.clear();
      self->reader.reset();
      if (!self->loaded) self->chunk_sampler.reset(self->reader.chunk_count());
      self->loaded = false;
      self->exhausted = false;
      self->started = true;
      self->self = self;
      self->read_ahead();
    }
    /// Waits for what is being read.
    void stop() {
      std::unique_lock lock(mutex);
      exhausted = true;
      changed.wait(lock, [&] { return reading == 0; });
    }

    BatchType take(size_t batch_size) {
      TORCH_CHECK(started,
                  "Dataset needs to call reset() before calling get_batch().");
      TORCH_CHECK(
          batch_size == options.batch_size(),
          "The requested batch size does not match with the initialized batch "
          "size.\n The requested batch size is ",
          batch_size,
          ", while the dataset is created with batch size equal to ",
          options.batch_size());
      std::unique_lock lock(mutex);
      while (errors.empty() && examples.size() < batch_size)
        if (!exhausted && reading < options.preloader_count())
          read(lock);  // rather than to wait for a task to begin
        else if (reading > 0)
          changed.wait(lock);
        else
          break;
      if (!errors.empty()) {
        const std::exception_ptr error = errors.front();
        errors.pop_front();
        throw WorkerException(error);
      }
      if (examples.empty()) return std::nullopt;
      UnwrappedBatchType batch;
      while (!examples.empty() && batch.size() < batch_size) {
        batch.push_back(std::move(examples.front()));
        examples.pop_front();
      }
      read_ahead();
      return batch;
    }

    /// Under the mutex: asks for tasks, as far as there is room.
    void read_ahead() {
      while (wants_more() && reading + asked < options.preloader_count()) {
        ++asked;
        hotaru::launch([kept = self.lock()] {
          std::unique_lock lock(kept->mutex);
          --kept->asked;
          while (kept->wants_more() &&
                 kept->reading < kept->options.preloader_count())
            kept->read(lock);
        });
      }
    }
    bool wants_more() const {
      return !exhausted && examples.size() < options.cache_size();
    }

    /// Reads the next chunks, without the lock meanwhile.
    void read(std::unique_lock<std::mutex>& lock) {
      ++reading;
      try {
        const auto indices =
            chunk_sampler.next(options.cross_chunk_shuffle_count());
        exhausted = exhausted || !indices;
        if (indices) {
          UnwrappedBatchType data;
          {
            const Unlocked unlocked(lock);
            data = chunks(*indices);
          }
          add(data);
        }
      } catch (...) {
        errors.push_back(std::current_exception());
      }
      --reading;
      changed.notify_all();
    }
    UnwrappedBatchType chunks(const std::vector<size_t>& indices) {
      UnwrappedBatchType data;
      for (const size_t index : indices) {
        UnwrappedBatchType chunk = reader.read_chunk(index);
        std::move(chunk.begin(), chunk.end(), std::back_inserter(data));
      }
      if (policy) policy(data);
      return data;
    }
    /// Under the mutex: the examples in the order that their sampler says.
    void add(UnwrappedBatchType& data) {
      example_sampler.reset(data.size());
      while (const auto chosen = example_sampler.next(options.batch_size()))
        for (const size_t i : *chosen) {
          TORCH_CHECK(i < data.size(), "Index out of range");
          examples.push_back(std::move(data[i]));
        }
    }

    ChunkReader reader;
    ChunkSampler chunk_sampler;
    ExampleSampler example_sampler;
    const ChunkDatasetOptions options;
    const Policy policy;
    std::weak_ptr<Shared> self;
    mutable std::mutex mutex;  // guards the rest, and the samplers
    std::condition_variable changed;
    std::deque<Example> examples;
    std::deque<std::exception_ptr> errors;
    /// Chunks being read, and tasks that did not begin yet.
    size_t reading = 0, asked = 0;
    bool started = false, exhausted = true, loaded = false;
  };

  std::shared_ptr<Shared> shared_;
};

}  // namespace torch::data::datasets
