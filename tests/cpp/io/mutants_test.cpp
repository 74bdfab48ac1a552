// Damaged archives: whatever the damage, loading and compiling either works
// or throws an Error, within a second of processor time and within four times
// the file and 64 MiB of memory. Each mutant has a process of its own.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>

#include "hotaru/core/error.h"
#include "hotaru/io/zip_reader.h"
#include "hotaru/io/zip_writer.h"
#include "hotaru/script/archive/archive.h"
#include "hotaru/script/program/function.h"
#include "tests/cpp/sanitizers.h"

namespace hotaru::script {
namespace {

using Bytes = std::vector<std::byte>;
using Random = std::mt19937_64;
/// Damages the bytes of an archive.
using Mutation = std::function<Bytes(const Bytes&, Random&)>;

enum Outcome { kAccepted = 0, kRejected = 1, kOutOfMemory = 2, kWrong = 3 };

Bytes read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  Bytes out(text.size());
  std::memcpy(out.data(), text.data(), text.size());
  return out;
}

void limit_child(size_t file_size) {
  if (!kSanitized) {  // their shadow is larger than any limit
    std::ifstream statm("/proc/self/statm");
    size_t pages = 0;
    statm >> pages;
    rlim_t limit =
        pages * size_t(::getpagesize()) + 4 * file_size + (size_t{64} << 20);
    rlimit memory = {limit, limit};
    ::setrlimit(RLIMIT_AS, &memory);
  }
  rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  itimerval time = {{0, 0}, {kSanitized ? 10 : 1, 0}};
  ::setitimer(ITIMER_PROF, &time, nullptr);
}

Outcome load_and_compile(Bytes bytes) {
  try {
    Module module = load(std::move(bytes), "mutant.pt");
    for (const auto& [name, part] : module.named_modules()) {
      for (const std::string& method : part.method_names()) {
        try {
          part.method(method).code();
        } catch (const Error&) {
          // An error of this method alone.
        }
      }
    }
    return kAccepted;
  } catch (const Error& error) {
    // Errors say which file they are about.
    bool named = std::strstr(error.what(), "mutant.pt") ||
                 std::strstr(error.what(), "code/");
    return named ? kRejected : kWrong;
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  } catch (...) {
    return kWrong;
  }
}

/// Runs a mutant: returns an Outcome, or minus the signal that ended it.
int run_child(const Bytes& mutant) {
  pid_t child = ::fork();
  if (child == 0) {
    limit_child(mutant.size());
    ::_exit(load_and_compile(mutant));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void damage(std::string& text, Random& random) {
  int times = 1 + int(random() % 4);
  for (int i = 0; i < times && !text.empty(); ++i) {
    size_t at = random() % text.size();
    size_t length = 1 + random() % std::min<size_t>(16, text.size() - at);
    constexpr unsigned char kInteresting[] = {0, 1, 0x7f, 0x80, 0xff};
    switch (random() % 6) {
      case 0:
        text[at] = char(text[at] ^ (1 << (random() % 8)));
        break;
      case 1:
        text[at] = char(random());
        break;
      case 2:
        text[at] = char(kInteresting[random() % 5]);
        break;
      case 3:
        text.erase(at, length);
        break;
      case 4:
        text.insert(at, text.substr(random() % text.size(), length));
        break;
      case 5: {
        std::string piece = text.substr(random() % text.size(), length);
        text.replace(at, piece.size(), piece);
        break;
      }
    }
  }
}

Bytes raw_damage(const Bytes& bytes, Random& random) {
  Bytes out = bytes;
  for (size_t n = 1 + random() % 8; n > 0; --n)
    out[random() % out.size()] = static_cast<std::byte>(random());
  return out;
}

Bytes truncation(const Bytes& bytes, Random& random) {
  return Bytes(bytes.begin(),
               bytes.begin() + std::ptrdiff_t(random() % bytes.size()));
}

// Headers, directory and end record: what lies outside of the payloads.
Bytes directory_damage(const Bytes& bytes, Random& random) {
  Bytes out = bytes;
  io::ZipReader zip(io::MappedFile::from_bytes(bytes, "original"));
  std::vector<size_t> places;
  for (const io::ZipRecord& record : zip.records())
    for (size_t i = record.header_offset; i < record.offset; ++i)
      places.push_back(i);
  size_t tail = std::min<size_t>(bytes.size(), 4096);
  for (size_t i = bytes.size() - tail; i < bytes.size(); ++i)
    places.push_back(i);
  for (size_t n = 1 + random() % 4; n > 0; --n)
    out[places[random() % places.size()]] = static_cast<std::byte>(random());
  return out;
}

// A valid archive around damaged records.
Mutation record_damage(const std::string& suffix) {
  return [suffix](const Bytes& bytes, Random& random) {
    io::ZipReader zip(io::MappedFile::from_bytes(bytes, "original"));
    std::string path = (std::filesystem::path(testing::TempDir()) /
                        concat("hotaru_mutant_", ::getpid(), ".pt"))
                           .string();
    std::vector<const io::ZipRecord*> targets;
    for (const io::ZipRecord& record : zip.records())
      if (record.name.ends_with(suffix)) targets.push_back(&record);
    const io::ZipRecord* target = targets[random() % targets.size()];
    io::ZipWriter writer(path, zip.root());
    for (const io::ZipRecord& record : zip.records()) {
      std::string contents = zip.read(record);
      if (&record == target) damage(contents, random);
      writer.add(record.name, contents);
    }
    writer.finish();
    Bytes out = read_file(path);
    std::filesystem::remove(path);
    return out;
  };
}

Bytes tensor_damage(const Bytes& bytes, Random& random) {
  Bytes out = bytes;
  io::ZipReader zip(io::MappedFile::from_bytes(bytes, "original"));
  std::vector<const io::ZipRecord*> targets;
  for (const io::ZipRecord& record : zip.records()) {
    bool tensor = record.name.starts_with("data/") ||
                  record.name.starts_with("constants/");
    if (tensor && record.size > 0) targets.push_back(&record);
  }
  const io::ZipRecord* target = targets[random() % targets.size()];
  out[target->offset + random() % target->size] ^=
      static_cast<std::byte>(1 << (random() % 8));
  return out;
}

std::map<int, int> outcomes(const std::string& archive,
                            const Mutation& mutation, int count) {
  Bytes original =
      read_file(std::string(HOTARU_GOLDEN) + "/script/" + archive + ".pt");
  EXPECT_EQ(run_child(original), kAccepted) << archive;
  std::map<int, int> out;
  for (int seed = 0; seed < count; ++seed) {
    Random random(static_cast<uint64_t>(seed));
    Bytes mutant = mutation(original, random);
    int outcome = run_child(mutant);
    ++out[outcome];
    EXPECT_TRUE(outcome == kAccepted || outcome == kRejected)
        << archive << ", seed " << seed
        << (outcome < 0 ? concat(": ended by signal ", -outcome)
                        : concat(": outcome ", outcome));
  }
  return out;
}

TEST(Mutants, RawBytes) {
  outcomes("language", raw_damage, 200);
  outcomes("frozen_lstm", raw_damage, 200);
}

TEST(Mutants, Truncations) {
  std::map<int, int> found = outcomes("language", truncation, 200);
  found.merge(outcomes("frozen_lstm", truncation, 200));
  EXPECT_EQ(found[kAccepted], 0);
}

TEST(Mutants, Directories) {
  outcomes("language", directory_damage, 200);
  outcomes("frozen_lstm", directory_damage, 200);
}

TEST(Mutants, Pickles) {
  outcomes("language", record_damage(".pkl"), 200);
  outcomes("networks", record_damage("data.pkl"), 200);
  outcomes("cases", record_damage("data.pkl"), 200);
}

TEST(Mutants, Sources) {
  outcomes("language", record_damage(".py"), 300);
  outcomes("networks", record_damage(".py"), 100);
  outcomes("cases", record_damage(".py"), 300);
}

// Every damaged tensor is noticed.
TEST(Mutants, Tensors) {
  std::map<int, int> found = outcomes("frozen_lstm", tensor_damage, 100);
  EXPECT_EQ(found[kRejected], 100);
  found = outcomes("networks", tensor_damage, 100);
  EXPECT_EQ(found[kRejected], 100);
}

}  // namespace
}  // namespace hotaru::script
