// Files that processes of one soft communicator share: counters in a mapped
// file, and files of bytes that one writes and others read. Their names are
// gone once all have opened them, so that nothing is left of a process that is
// killed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hotaru::soft_gpu {

class SharedRanks {
 public:
  static constexpr int kMost = 64;

  /// Returns when all ranks have come, or serves() is false after a minute.
  SharedRanks(const std::string& name, int rank, int size);
  ~SharedRanks();
  SharedRanks(const SharedRanks&) = delete;
  SharedRanks& operator=(const SharedRanks&) = delete;

  bool serves() const { return serves_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Collectives: a rank says what it does and shows its bytes, reads those of
  /// the others when all have done that, and departs.
  void arrive(uint64_t number, uint64_t what, const std::vector<char>& bytes);
  /// Tells whether all have arrived, and do the same.
  bool all_arrived(uint64_t number, uint64_t what) const;
  void depart(uint64_t number);
  bool all_departed(uint64_t number) const;
  std::vector<char> bytes_of(int rank, size_t begin, size_t count) const;

  /// Messages, in their order.
  void send(int to, const void* data, size_t bytes);
  bool came(int from, size_t bytes) const;
  void receive(int from, void* data, size_t bytes);

 private:
  struct Counters {
    std::atomic<uint64_t> arrived, what, departed;
    std::atomic<uint64_t> sent[kMost], received[kMost];  // bytes, to and from
  };
  struct Header {
    std::atomic<int> joined, opened;
    Counters of[kMost];
  };

  std::string file(int from, int to) const;
  bool join();

  const std::string name_;
  const int rank_, size_;
  Header* header_ = nullptr;
  std::array<int, kMost> shown_{}, outgoing_{}, incoming_{};  // descriptors
  bool serves_ = false;
};

}  // namespace hotaru::soft_gpu
