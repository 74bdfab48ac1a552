// Common parts of loaders: jobs ahead, and results in order.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "hotaru/runtime/threads/scheduler.h"
#include "torch/data/dataloader_options.h"
#include "torch/data/iterator.h"
#include "torch/data/worker_exception.h"

namespace torch::data {

/// Not thread-safe itself: one thread goes over the batches.
template <class Dataset, class Batch, class BatchRequest>
class DataLoaderBase {
 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;

  DataLoaderBase(DataLoaderOptions options, Dataset dataset)
      : options_(std::move(options)) {
    const size_t copies =
        Dataset::is_stateful ? 1 : std::max<size_t>(options_.workers, 1);
    for (size_t i = 1; i < copies; ++i) datasets_.push_back(dataset);
    datasets_.push_back(std::move(dataset));
    for (Dataset& d : datasets_) free_.push_back(&d);
  }
  DataLoaderBase(const DataLoaderBase&) = delete;
  DataLoaderBase& operator=(const DataLoaderBase&) = delete;
  virtual ~DataLoaderBase() = default;

  /// Goes over an epoch. Throws while another iterator is not at its end.
  Iterator<Batch> begin() {
    TORCH_CHECK(jobs_.empty(),
                "Attempted to get a new DataLoader iterator while another "
                "iterator is not yet exhausted");
    restart();
    ended_ = false;
    for (size_t i = 0; i < options_.max_jobs && options_.workers > 0; ++i)
      if (!start_job()) break;
    return Iterator<Batch>([this] { return next(); });
  }
  Iterator<Batch> end() { return {}; }
  /// Waits for the batches that are being made, and forgets them.
  void join() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return running_ == 0; });
    jobs_.clear();
  }
  const FullDataLoaderOptions& options() const noexcept { return options_; }

 protected:
  virtual void restart() = 0;
  virtual std::optional<BatchRequest> next_request() = 0;
  Dataset& dataset() { return datasets_.front(); }

 private:
  struct Job {
    BatchRequest request;
    std::optional<Batch> batch = std::nullopt;
    std::exception_ptr error = nullptr;
    bool done = false;
  };

  bool start_job() {
    auto request = ended_ ? std::nullopt : next_request();
    if (!request) {
      ended_ = true;
      return false;
    }
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::make_shared<Job>(Job{std::move(*request)}));
    waiting_.push_back(jobs_.back());
    give_work();
    return true;
  }

  /// Under the mutex: a task for each dataset that is free.
  void give_work() {
    while (!free_.empty() && !waiting_.empty()) {
      Dataset* dataset = free_.back();
      free_.pop_back();
      const std::shared_ptr<Job> job = waiting_.front();
      waiting_.pop_front();
      ++running_;
      hotaru::launch([this, dataset, job] { run(*dataset, *job); });
    }
  }

  void run(Dataset& dataset, Job& job) {
    std::optional<Batch> batch;
    std::exception_ptr error;
    try {
      batch = dataset.get_batch(std::move(job.request));
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    job.batch = std::move(batch);
    job.error = error;
    job.done = true;
    free_.push_back(&dataset);
    give_work();
    --running_;
    changed_.notify_all();
  }

  std::optional<Batch> next() {
    if (options_.workers == 0) {
      auto request = next_request();
      if (!request) return std::nullopt;
      return dataset().get_batch(std::move(*request));
    }
    while (!jobs_.empty()) {
      const std::shared_ptr<Job> job = take_done();
      if (job->error) throw WorkerException(job->error);
      if (job->batch) {
        start_job();
        return std::move(job->batch);
      }
      ended_ = true;  // the dataset has no more
    }
    return std::nullopt;
  }

  std::shared_ptr<Job> take_done() {
    std::unique_lock lock(mutex_);
    auto found = jobs_.end();
    const auto ready = [&] {
      found = jobs_.begin();
      if (!options_.enforce_ordering)
        while (found != jobs_.end() && !(*found)->done) ++found;
      return found != jobs_.end() && (*found)->done;
    };
    if (!options_.timeout)
      changed_.wait(lock, ready);
    else
      TORCH_CHECK(changed_.wait_for(lock, *options_.timeout, ready),
                  "Timeout in DataLoader queue while waiting for next batch "
                  "(timeout was ",
                  options_.timeout->count(), " ms)");
    const std::shared_ptr<Job> job = *found;
    jobs_.erase(found);
    return job;
  }

  const FullDataLoaderOptions options_;
  std::list<Dataset> datasets_;
  bool ended_ = true;
  std::mutex mutex_;  // guards the rest, and jobs
  std::condition_variable changed_;
  std::vector<Dataset*> free_;
  std::deque<std::shared_ptr<Job>> waiting_;
  std::list<std::shared_ptr<Job>> jobs_;
  size_t running_ = 0;
};

}  // namespace torch::data
