#include "hotaru/backend/cuda/libraries/nvrtc.h"

#include "hotaru/backend/cuda/devices.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {

Nvrtc::Nvrtc() {
  // Drivers load what their own CUDA and older ones compile.
  constexpr int kCuda13 = 13000;
  const bool older = driver_version() != 0 && driver_version() < kCuda13;
  library = older ? open_library({"libnvrtc.so.12", "libnvrtc.so.13"})
                  : open_library({"libnvrtc.so.13", "libnvrtc.so.12"});
#define HOTARU_FIND(name, symbol, params) library.find(name, #symbol);
  HOTARU_NVRTC_ENTRIES(HOTARU_FIND)
#undef HOTARU_FIND
}

std::string Nvrtc::version_text() const {
  int major = 0, minor = 0;
  return version(&major, &minor) == nvrtc::kSuccess ? concat(major, ".", minor)
                                                    : "";
}

const Nvrtc& needed_nvrtc() {
  const Nvrtc& found = opened<Nvrtc>();
  HOTARU_CHECK(found.library.why_not.empty(),
               "CUDA source text is compiled by NVRTC, which is not there (",
               found.library.why_not,
               "). PyPI has it as nvidia-cuda-nvrtc, for CUDA 12 as "
               "nvidia-cuda-nvrtc-cu12; HOTARU_CUDA_LIBRARIES can name its "
               "folder.");
  return found;
}

DeviceLibrary nvrtc_report() {
  return report_of<Nvrtc>();
}

}  // namespace hotaru::cuda
