// The processors of this machine, and which of them threads run on.
#pragma once

#include <array>
#include <set>
#include <string>

namespace hotaru::platform {

/// Processors by number.
class ProcessorSet {
 public:
  static constexpr int kMost = 1024;

  bool has(int processor) const {
    return words_[word(processor)] & bit(processor);
  }
  void add(int processor) { words_[word(processor)] |= bit(processor); }
  int count() const;

  /// For the system's calls.
  void* data() { return words_.data(); }
  const void* data() const { return words_.data(); }

 private:
  static constexpr int kBits = 8 * sizeof(unsigned long);
  static size_t word(int processor) { return size_t(processor / kBits); }
  static unsigned long bit(int processor) { return 1ul << (processor % kBits); }

  std::array<unsigned long, kMost / kBits> words_{};
};

/// The processors that the calling thread may use. False if the system does not
/// tell.
bool allowed_processors(ProcessorSet& out);
/// Restricts a thread, by thread_id(), to these; 0 is the calling thread. False
/// if the system does not do that.
bool restrict_thread(int thread, const ProcessorSet& processors);
/// The processor that this thread runs on, below ProcessorSet::kMost; -1 if the
/// system does not tell. Some nanoseconds.
int current_processor();
/// A name that the hyper-threads of one core share; empty if it isn't known.
std::string core_of(int processor);

/// CPU time in processors that the process may use, the smallest limit of its
/// control groups; 0 if unlimited. `root` replaces the root folder, for tests.
double cpu_quota(const std::string& root);

/// The processor's name as the system tells it; may be empty.
std::string processor_name();
/// Instruction sets by Linux's names, for people to read.
std::set<std::string> processor_features();

/// Asks for the state of AMX's tiles. False if the process does not get it.
bool request_tile_state();

}  // namespace hotaru::platform
