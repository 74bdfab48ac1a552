#include "hotaru/backend/cuda/libraries/nccl.h"

#include "hotaru/comm/dist_error.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {

Nccl::Nccl() {
#define HOTARU_FIND(name, symbol, params) library.find(name, #symbol);
  HOTARU_NCCL_ENTRIES(HOTARU_FIND)
  HOTARU_NCCL_TEXT_ENTRIES(HOTARU_FIND)
#undef HOTARU_FIND
}

std::string Nccl::version_text() const {
  int v = 0;
  return version(&v) == nccl::kSuccess ? version_text_of(v, 10000) : "";
}

void Nccl::check(int status, const char* call) const {
  if (status == nccl::kSuccess) return;
  const char* const last = last_error(nullptr);
  throw comm::DistBackendError(
      concat("NCCL error in ", call, ": ", error_text(status),
             last && *last ? concat(": ", last) : std::string()));
}

const Nccl& nccl_library() {
  const Nccl& found = opened<Nccl>();
  HOTARU_CHECK(found.library.why_not.empty(),
               "NCCL is not here: ", found.library.why_not);
  return found;
}

DeviceLibrary nccl_report() {
  return report_of<Nccl>();
}

}  // namespace hotaru::cuda
