#include "capture.h"

#include <algorithm>

#include "hotaru/core/checks/check.h"
#include "hotaru/graph/passes/passes.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::cli {

void check_passes(const std::vector<std::string>& names) {
  const auto passes = graph::passes();
  for (const std::string& name : names) {
    const auto named = [&](const graph::Pass& p) { return p.name == name; };
    HOTARU_CHECK_AS(ValueError,
                    std::any_of(passes.begin(), passes.end(), named),
                    "there is no pass '", name, "'");
  }
}

Ref<graph::Graph> capture(Model& model, Value& result, graph::Options options) {
  // Things that a first call makes (compiled code, state) are not to be
  // captured.
  for (int i = 0; i < kWarmUpCalls; ++i) model.call();
  auto made = make_ref<graph::Graph>(std::move(options));
  const Device device = model.device();
  const Stream stream = DeviceTable::instance()
                            .backend(device.type)
                            .make_stream(std::max<int>(device.index, 0), 0);
  made->capture_begin(stream);
  try {
    const StreamGuard guard(stream);
    result = model.call();
  } catch (const std::exception& e) {
    made->abandon();
    fail("the model can't be captured as a graph:\n", e.what());
  }
  made->capture_end();
  return made;
}

}  // namespace hotaru::cli
