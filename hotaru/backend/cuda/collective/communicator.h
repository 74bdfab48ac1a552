// NCCL's communicator: this process's device among those of all ranks.
#pragma once

#include <mutex>

#include "hotaru/backend/cuda/libraries/nccl.h"
#include "hotaru/runtime/communicator.h"

namespace hotaru::cuda {

class NcclCommunicator final : public Communicator {
 public:
  /// Returns when all `size` ranks have made theirs with the same key.
  NcclCommunicator(const std::string& key, int rank, int size, int device);
  ~NcclCommunicator() override;

  int rank() const { return rank_; }
  int size() const { return size_; }
  Device device() const override {
    return {DeviceType::kCUDA, int8_t(device_)};
  }
  std::string complaint() override;
  void close() override;

  /// Calls f(library, handle), whose work goes to streams all at once. Throws
  /// what NCCL says, or the error that the communicator was aborted with.
  template <class F>
  void together(const char* what, const F& f) {
    const std::lock_guard lock(calling_);
    check_open();
    library_.check(library_.group_start(), "ncclGroupStart");
    try {
      f(library_, handle_);
    } catch (...) {
      library_.group_end();
      throw;
    }
    library_.check(library_.group_end(), what);
  }

  static std::string make_key();

 private:
  void give_up(const std::exception_ptr& error) override;
  void check_open() const;

  const Nccl& library_;
  const int rank_, size_, device_;
  std::timed_mutex calling_;
  nccl::Comm handle_ = nullptr;
};

}  // namespace hotaru::cuda
