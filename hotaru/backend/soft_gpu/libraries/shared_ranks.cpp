#include "hotaru/backend/soft_gpu/libraries/shared_ranks.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace hotaru::soft_gpu {
namespace {

constexpr int kShown = -1;  // a file for all, in place of one rank's

int open_file(const std::string& name) {
  return ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

/// Until a counter that other processes raise has come so far.
bool wait_for(const std::atomic<int>& counter, int value) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (counter.load() < value) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

}  // namespace

SharedRanks::SharedRanks(const std::string& name, int rank, int size)
    : name_("/tmp/hotaru-softnccl-" + name), rank_(rank), size_(size) {
  shown_.fill(-1), outgoing_.fill(-1), incoming_.fill(-1);
  serves_ = size <= kMost && join();
}

SharedRanks::~SharedRanks() {
  for (const auto* files : {&shown_, &outgoing_, &incoming_})
    for (const int file : *files)
      if (file >= 0) ::close(file);
  if (header_) ::munmap(header_, sizeof(Header));
}

std::string SharedRanks::file(int from, int to) const {
  return name_ + "-" + std::to_string(from) + "-" + std::to_string(to);
}

bool SharedRanks::join() {
  const int header = open_file(name_);
  if (header < 0 || ::ftruncate(header, sizeof(Header)) != 0) return false;
  void* const memory = ::mmap(nullptr, sizeof(Header), PROT_READ | PROT_WRITE,
                              MAP_SHARED, header, 0);
  ::close(header);
  if (memory == MAP_FAILED) return false;
  header_ = static_cast<Header*>(memory);  // zeros are its beginning
  for (int i = 0; i < size_; ++i) {
    shown_[size_t(i)] = open_file(file(i, kShown));
    outgoing_[size_t(i)] = open_file(file(rank_, i));
    incoming_[size_t(i)] = open_file(file(i, rank_));
  }
  ++header_->joined;
  if (!wait_for(header_->joined, size_)) return false;
  // Nobody opens them any more.
  ::unlink(file(rank_, kShown).c_str());
  for (int i = 0; i < size_; ++i) ::unlink(file(rank_, i).c_str());
  ++header_->opened;
  const bool all = wait_for(header_->opened, size_);
  if (rank_ == 0) ::unlink(name_.c_str());
  return all;
}

void SharedRanks::arrive(uint64_t number, uint64_t what,
                         const std::vector<char>& bytes) {
  (void)!::pwrite(shown_[size_t(rank_)], bytes.data(), bytes.size(), 0);
  Counters& mine = header_->of[rank_];
  mine.what = what;
  mine.arrived = number;
}

bool SharedRanks::all_arrived(uint64_t number, uint64_t what) const {
  for (int i = 0; i < size_; ++i)
    if (header_->of[i].arrived < number || header_->of[i].what != what)
      return false;
  return true;
}

void SharedRanks::depart(uint64_t number) {
  header_->of[rank_].departed = number;
}

bool SharedRanks::all_departed(uint64_t number) const {
  for (int i = 0; i < size_; ++i)
    if (header_->of[i].departed < number) return false;
  return true;
}

std::vector<char> SharedRanks::bytes_of(int rank, size_t begin,
                                        size_t count) const {
  std::vector<char> out(count);
  (void)!::pread(shown_[size_t(rank)], out.data(), count, off_t(begin));
  return out;
}

void SharedRanks::send(int to, const void* data, size_t bytes) {
  std::atomic<uint64_t>& sent = header_->of[rank_].sent[to];
  (void)!::pwrite(outgoing_[size_t(to)], data, bytes, off_t(sent.load()));
  sent += bytes;
}

bool SharedRanks::came(int from, size_t bytes) const {
  return header_->of[from].sent[rank_] - header_->of[rank_].received[from] >=
         bytes;
}

void SharedRanks::receive(int from, void* data, size_t bytes) {
  std::atomic<uint64_t>& received = header_->of[rank_].received[from];
  const auto begin = off_t(received.load());
  const int file = incoming_[size_t(from)];
  (void)!::pread(file, data, bytes, begin);
  ::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin,
              off_t(bytes));
  received += bytes;
}

}  // namespace hotaru::soft_gpu
