// Damaged files of weights: whatever the damage, opening them and reading every
// tensor and the metadata either works or throws an Error that names the file,
// within a second of processor time and within four times the file and 64 MiB
// of memory. Mutants run in processes of their own, many in one: what one does
// to the process, such as a leak, those behind it meet.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "hotaru/core/error.h"
#include "hotaru/core/host.h"
#include "hotaru/io/weights/weight_file.h"
#include "tests/cpp/sanitizers.h"

namespace hotaru::io {
namespace {

using Random = std::mt19937_64;
using Mutation = std::function<std::string(std::string, Random&)>;

enum Outcome { kAccepted = 0, kRejected = 1, kOutOfMemory = 2, kWrong = 3 };

std::string read_golden(const std::string& name) {
  std::ifstream in(std::string(HOTARU_GOLDEN) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void limit_child(size_t file_size) {
  if (!kSanitized) {  // their shadow is larger than any limit
    std::ifstream statm("/proc/self/statm");
    size_t pages = 0;
    statm >> pages;
    const rlim_t limit =
        pages * size_t(::getpagesize()) + 4 * file_size + (size_t{64} << 20);
    const rlimit memory = {limit, limit};
    ::setrlimit(RLIMIT_AS, &memory);
  }
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
}

void limit_time() {
  const itimerval time = {{0, 0}, {kSanitized ? 10 : 1, 0}};
  ::setitimer(ITIMER_PROF, &time, nullptr);
}

/// Reads every byte, so that a range beyond the file is noticed.
void touch(const Tensor& tensor) {
  const auto* bytes =
      static_cast<const unsigned char*>(host_bytes(tensor, "touch"));
  volatile unsigned sum = 0;
  for (size_t i = 0; i < tensor.storage()->nbytes(); ++i) sum = sum + bytes[i];
}

Outcome open_and_read(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  Outcome outcome = kAccepted;
  const auto attempt = [&](const auto& read) {
    try {
      read();
    } catch (const Error& error) {
      if (!std::strstr(error.what(), "mutant")) outcome = kWrong;
      if (outcome == kAccepted) outcome = kRejected;
    } catch (const std::bad_alloc&) {
      outcome = kOutOfMemory;
    } catch (...) {
      outcome = kWrong;
    }
  };
  attempt([&] {
    const auto file = open_weights(
        MappedFile::from_bytes({begin, begin + text.size()}, "mutant"));
    for (const WeightInfo& info : file->tensors())
      attempt([&] { touch(file->read(info)); });
    attempt([&] { file->metadata(); });
  });
  return outcome;
}

/// Runs mutants and tells what became of them: Outcomes, or minus the signal
/// that ended the process.
std::vector<int> run_children(const std::vector<std::string>& mutants) {
  size_t largest = 0;
  for (const std::string& mutant : mutants)
    largest = std::max(largest, mutant.size());
  // Written by children: outcomes, and behind them which mutant is running.
  const size_t count = mutants.size();
  void* shared =
      ::mmap(nullptr, (count + 1) * sizeof(int), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(shared, MAP_FAILED);
  auto* outcomes = static_cast<volatile int*>(shared);
  volatile int& running = outcomes[count];
  while (size_t(running) < count) {
    const pid_t child = ::fork();
    if (child == 0) {
      limit_child(largest);
      while (size_t(running) < count) {
        limit_time();
        outcomes[running] = open_and_read(mutants[size_t(running)]);
        running = running + 1;
      }
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status)) break;
    outcomes[running] = -WTERMSIG(status);
    running = running + 1;
  }
  std::vector<int> out(outcomes, outcomes + count);
  ::munmap(shared, (count + 1) * sizeof(int));
  return out;
}

/// How many bytes at the front describe the rest.
size_t head_size(const std::string& file) {
  return std::min<size_t>(file.size(), 600);
}

std::string bytes_changed(std::string file, Random& random) {
  for (size_t n = 1 + random() % 4; n > 0; --n)
    file[random() % head_size(file)] = char(random());
  return file;
}

std::string bits_flipped(std::string file, Random& random) {
  for (size_t n = 1 + random() % 3; n > 0; --n)
    file[random() % head_size(file)] ^= char(1 << random() % 8);
  return file;
}

std::string cut(std::string file, Random& random) {
  file.resize(random() % file.size());
  return file;
}

/// A number of 4 or 8 bytes becomes one that overflows something.
std::string numbers_changed(std::string file, Random& random) {
  constexpr uint64_t kOne = 1;
  constexpr uint64_t kNumbers[] = {0,
                                   1,
                                   7,
                                   0x7f,
                                   0xffff,
                                   0x7fffffff,
                                   0xffffffff,
                                   kOne << 32,
                                   kOne << 61,
                                   kOne << 62,
                                   (kOne << 63) - 1,
                                   kOne << 63,
                                   ~uint64_t{31},
                                   ~uint64_t{0}};
  const uint64_t number = kNumbers[random() % std::size(kNumbers)];
  const size_t size = random() % 2 ? 4 : 8;
  std::memcpy(&file[random() % (head_size(file) - size)], &number, size);
  return file;
}

/// Pieces are left out, doubled or moved; a header's length then fits again.
std::string pieces_changed(std::string file, Random& random) {
  for (size_t n = 1 + random() % 3; n > 0; --n) {
    const size_t at = 8 + random() % (head_size(file) - 40);
    const size_t length = 1 + random() % 24;
    const std::string piece =
        file.substr(8 + random() % (head_size(file) - 40), length);
    switch (random() % 3) {
      case 0:
        file.erase(at, length);
        break;
      case 1:
        file.insert(at, piece);
        break;
      default:
        file.replace(at, piece.size(), piece);
    }
  }
  const size_t end = file.find("}}");
  if (file[8] == '{' && end != file.npos && random() % 4) {
    const uint64_t length = end + 2 - 8;
    std::memcpy(file.data(), &length, sizeof length);
  }
  return file;
}

/// 400 mutants of a golden file; many are rejected, and none does worse.
void check(const std::string& name, const Mutation& mutation) {
  const std::string original = read_golden(name);
  ASSERT_GT(original.size(), 600u);
  std::vector<std::string> mutants;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    mutants.push_back(mutation(original, random));
  }
  const std::vector<int> outcomes = run_children(mutants);
  int rejected = 0;
  for (size_t seed = 0; seed < outcomes.size(); ++seed) {
    const int outcome = outcomes[seed];
    rejected += outcome == kRejected;
    EXPECT_TRUE(outcome == kAccepted || outcome == kRejected)
        << name << ", seed " << seed
        << (outcome < 0 ? concat(": ended by signal ", -outcome)
                        : concat(": outcome ", outcome));
  }
  EXPECT_GT(rejected, 100) << name;
}

class WeightMutants : public testing::TestWithParam<const char*> {};

TEST_P(WeightMutants, Bytes) {
  check(GetParam(), bytes_changed);
}
TEST_P(WeightMutants, Bits) {
  check(GetParam(), bits_flipped);
}
TEST_P(WeightMutants, Cut) {
  check(GetParam(), cut);
}
TEST_P(WeightMutants, Numbers) {
  check(GetParam(), numbers_changed);
}
TEST_P(WeightMutants, Pieces) {
  check(GetParam(), pieces_changed);
}

INSTANTIATE_TEST_SUITE_P(Formats, WeightMutants,
                         testing::Values("weights.safetensors", "weights.gguf"),
                         [](const auto& info) {
                           const std::string name = info.param;
                           return name.substr(name.find('.') + 1);
                         });

}  // namespace
}  // namespace hotaru::io
