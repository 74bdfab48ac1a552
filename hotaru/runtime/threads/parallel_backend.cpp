#include "hotaru/runtime/threads/parallel_backend.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "hotaru/core/checks/check.h"
#include "hotaru/platform/fork.h"
#include "hotaru/platform/shared_object.h"
#include "hotaru/runtime/threads/region.h"
#include "hotaru/runtime/threads/scheduler.h"

namespace hotaru {
namespace {

constexpr ParallelBackend kNative{"native", "native thread pool", nullptr,
                                  nullptr};
constexpr const char* kNames[] = {"native", "openmp", "tbb"};

std::atomic<const ParallelBackend*> chosen{nullptr};
std::atomic<bool> foreign_was_used{false};

/// Where a back end's shared object lies: beside this library.
std::filesystem::path plugin_path(std::string_view name) {
  return std::filesystem::path(
             platform::library_of(
                 reinterpret_cast<const void*>(&parallel_backend)))
             .parent_path() /
         ("libhotaru_" + std::string(name) + ".so");
}

bool is_built(std::string_view name) {
  std::error_code error;
  return name == kNative.name ||
         std::filesystem::exists(plugin_path(name), error);
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// `origin` says in errors who asked for it.
const ParallelBackend& load(std::string_view name, const std::string& origin) {
  if (name == kNative.name) return kNative;
  HOTARU_CHECK(
      std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames),
      origin, ": unknown threading back end '", name,
      "'; known are native, openmp, tbb");
  const std::string path = plugin_path(name).string();
  HOTARU_CHECK(is_built(name), origin, ": the threading back end '", name,
               "' is not part of this build (it has ",
               joined(parallel_backends()), ")");
  // Never closed: its threads may be anywhere.
  std::string why_not;
  void* plugin = platform::open_library(path, &why_not);
  HOTARU_CHECK(plugin != nullptr, origin, ": cannot load the threading back ",
               "end '", name, "': ", why_not);
  using Entry = const ParallelBackend* (*)();
  auto entry = reinterpret_cast<Entry>(
      platform::symbol_of(plugin, "hotaru_parallel_backend"));
  HOTARU_CHECK(entry != nullptr, origin, ": ", path, " is no back end");
  return *entry();
}

void choose(const ParallelBackend& backend) {
  static std::once_flag once;
  std::call_once(once, [] {
    platform::at_fork(nullptr, nullptr, [] {
      if (foreign_was_used.load()) chosen.store(&kNative);
    });
  });
  chosen.store(&backend, std::memory_order_release);
}

const ParallelBackend& current() {
  const ParallelBackend* backend = chosen.load(std::memory_order_acquire);
  if (backend != nullptr) return *backend;
  const char* name = std::getenv("HOTARU_THREADING");
  const bool is_set = name != nullptr && *name != '\0';
  const ParallelBackend& loaded =
      is_set ? load(name, "HOTARU_THREADING")
             : load(HOTARU_DEFAULT_THREADING, "hotaru");
  choose(loaded);
  return loaded;
}

/// Hands a region's chunks to whoever comes.
struct SharedRegion {
  detail::Region region;
  int64_t chunks;
  std::atomic<int64_t> next{1};

  static void work(void* self, bool caller) {
    auto& shared = *static_cast<SharedRegion*>(self);
    if (caller) shared.region.run_chunk(0);
    for (int64_t i; (i = shared.next.fetch_add(1)) < shared.chunks;)
      shared.region.run_chunk(i);
  }
};

}  // namespace

const char* parallel_backend() {
  return current().name;
}

void set_parallel_backend(std::string_view name) {
  choose(load(name, "set_parallel_backend"));
}

std::vector<std::string> parallel_backends() {
  std::vector<std::string> names;
  for (const char* name : kNames)
    if (is_built(name)) names.emplace_back(name);
  return names;
}

namespace detail {

const ParallelBackend& current_backend() {
  return current();
}

void run_chunks(int64_t chunks, void (*fn)(void*, int64_t), void* context) {
  const ParallelBackend& backend = current();
  Scheduler& scheduler = Scheduler::instance();
  if (backend.fork_join == nullptr) {
    scheduler.run_chunks(chunks, fn, context);
    return;
  }
  // Together with the workers that run launched tasks no more than num_threads
  // threads work for this process, however many belong to the back end.
  const int64_t threads = std::min<int64_t>(
      chunks, scheduler.num_threads() - scheduler.num_busy_workers());
  SharedRegion shared{{fn, context}, chunks};
  if (threads > 1) {
    foreign_was_used.store(true, std::memory_order_relaxed);
    backend.fork_join(int(threads - 1), &SharedRegion::work, &shared);
  } else {
    SharedRegion::work(&shared, true);
  }
  shared.region.rethrow();
}

}  // namespace detail
}  // namespace hotaru
