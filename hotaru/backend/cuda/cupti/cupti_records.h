// Contents of CUPTI's records.
#pragma once

#include <string>
#include <unordered_map>

#include "hotaru/backend/cuda/cupti/cupti_entries.h"
#include "hotaru/runtime/device_timer.h"

namespace hotaru::cuda {

/// Turns records into works.
class RecordReader {
 public:
  /// Tells whether it is one of a kernel, a copy or a fill; `work` then says
  /// what happened. Its duration is below 0 where CUPTI had no times.
  bool read(const cupti::Record& record, DeviceWork& work);

 private:
  const std::string& name_of(const char* symbol);

  std::unordered_map<const char*, std::string> names_;
};

}  // namespace hotaru::cuda
