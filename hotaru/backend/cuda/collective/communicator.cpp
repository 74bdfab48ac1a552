#include "hotaru/backend/cuda/collective/communicator.h"

#include <chrono>
#include <cstring>

#include "hotaru/backend/cuda/devices.h"
#include "hotaru/backend/cuda/stream.h"
#include "hotaru/comm/dist_error.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {

std::string NcclCommunicator::make_key() {
  const Nccl& library = nccl_library();
  nccl::UniqueId id;
  library.check(library.unique_id(&id), "ncclGetUniqueId");
  return {id.internal, sizeof id.internal};
}

NcclCommunicator::NcclCommunicator(const std::string& key, int rank, int size,
                                   int device)
    : library_(nccl_library()), rank_(rank), size_(size), device_(device) {
  nccl::UniqueId id;
  HOTARU_CHECK(key.size() >= sizeof id.internal, "NCCL: a key of ",
               sizeof id.internal, " bytes is wanted, got ", key.size());
  std::memcpy(id.internal, key.data(), sizeof id.internal);
  use(device);
  library_.check(library_.init_rank(&handle_, size, id, rank),
                 "ncclCommInitRank");
}

NcclCommunicator::~NcclCommunicator() {
  if (handle_ && !forked()) library_.abort(handle_);
}

void NcclCommunicator::check_open() const {
  if (const std::exception_ptr why = error()) std::rethrow_exception(why);
  if (!handle_)
    throw comm::DistBackendError("NCCL: the process group was destroyed");
}

std::string NcclCommunicator::complaint() {
  const std::unique_lock lock(calling_, std::try_to_lock);
  if (!lock || !handle_) return "";
  int status = nccl::kSuccess;
  library_.async_error(handle_, &status);
  // Under way is none.
  constexpr int kInProgress = 7;
  if (status == nccl::kSuccess || status == kInProgress) return "";
  return concat("NCCL: ", library_.error_text(status));
}

void NcclCommunicator::close() {
  const std::lock_guard lock(calling_);
  if (!handle_ || forked()) return;
  use(device_);
  library_.destroy(handle_);
  handle_ = nullptr;
}

void NcclCommunicator::give_up(const std::exception_ptr& error) {
  // A thread that is in there waits for others, until this ends it.
  std::unique_lock lock(calling_, std::defer_lock);
  (void)lock.try_lock_for(std::chrono::seconds(1));
  fail_streams(device_, error);
  if (handle_) {
    use(device_);
    library_.abort(handle_);
    handle_ = nullptr;
  }
}

}  // namespace hotaru::cuda
