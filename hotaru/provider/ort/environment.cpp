#include "hotaru/provider/ort/environment.h"

#include <mutex>

#include "hotaru/core/checks/check.h"

namespace hotaru::provider::ort {

namespace {

/// There is one at most, and it stays when the last session has gone: it costs
/// next to nothing, and its end at the end of the process would be a matter of
/// order.
struct State {
  OrtEnv* env = nullptr;
  int threads = 0;
  int64_t holders = 0;
  uint32_t forks = 0;
};

Mutex environment_mutex;
constinit State state;

OrtEnv* make_env(const Library& library, int threads) {
  const Api& api = library.api;
  const char* const what = "the environment";
  Owned<OrtThreadingOptions> options(api.ReleaseThreadingOptions);
  library.check(api.CreateThreadingOptions(options.out()), what);
  library.check(api.SetGlobalIntraOpNumThreads(options.get(), threads), what);
  library.check(api.SetGlobalInterOpNumThreads(options.get(), 1), what);
  library.check(api.SetGlobalSpinControl(options.get(), 0), what);
  constexpr int kSilent = 4;
  OrtEnv* env = nullptr;
  library.check(api.CreateEnvWithGlobalThreadPools(kSilent, "hotaru",
                                                   options.get(), &env),
                what);
  return env;
}

}  // namespace

Environment::Environment(int threads) {
  const Library& library = ort::library();
  const std::lock_guard lock(environment_mutex);
  if (state.env && threads > 0 && threads != state.threads) {
    HOTARU_CHECK_AS(ValueError, state.holders == 0, "intra_op_num_threads is ",
                    threads, ", but ONNX Runtime's pool in this process has ",
                    state.threads, " thread(s), which ", state.holders,
                    " compiled model(s) use; ask for it with the first model, "
                    "or let go of these before");
    library.api.ReleaseEnv(std::exchange(state.env, nullptr));
  }
  if (!state.env) {
    state.threads = threads > 0 ? threads : 1;
    state.forks = fork_count();
    state.env = make_env(library, state.threads);
  }
  env_ = state.env;
  threads_ = state.threads;
  forks_ = state.forks;
  check_process();
  ++state.holders;
}

Environment::~Environment() {
  const std::lock_guard lock(environment_mutex);
  --state.holders;
}

void Environment::refuse_child() const {
  HOTARU_CHECK(threads_ == 1, "ONNX Runtime's pool of ", threads_,
               " threads stayed in the process that this one was forked from; "
               "compile with intra_op_num_threads=1, or in the child only");
}

}  // namespace hotaru::provider::ort
