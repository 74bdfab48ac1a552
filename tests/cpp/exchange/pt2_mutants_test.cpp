// Damaged exported programs: whatever the damage, loading and compiling work or
// throw an Error that names the file, within a second of processor time and 64
// MiB. Each mutant has a process of its own.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "hotaru/core/error.h"
#include "hotaru/exchange/pt2/load_pt2.h"
#include "hotaru/io/zip_reader.h"
#include "hotaru/io/zip_writer.h"
#include "hotaru/script/program/function.h"
#include "tests/cpp/sanitizers.h"

namespace hotaru::exchange {
namespace {

using Bytes = std::vector<std::byte>;
using Json = nlohmann::json;
using Random = std::mt19937_64;

enum Outcome { kAccepted = 0, kRejected = 1, kOutOfMemory = 2, kWrong = 3 };

Bytes read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  Bytes out(text.size());
  std::memcpy(out.data(), text.data(), text.size());
  return out;
}

Bytes golden(const std::string& name) {
  return read_all(concat(HOTARU_GOLDEN, "/pt2/", name, ".pt2"));
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
    script::Module module = load_pt2(std::move(bytes), "mutant.pt2");
    for (const std::string& method : module.method_names()) {
      try {
        module.method(method).code();
      } catch (const Error&) {
        // An error of this method alone.
      }
    }
    return kAccepted;
  } catch (const Error& error) {
    return std::strstr(error.what(), "mutant.pt2") ? kRejected : kWrong;
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  } catch (...) {
    return kWrong;
  }
}

// An Outcome, or minus the signal that ended the process.
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

// The archive with other text in the records that a function changes.
template <class Change>
Bytes rewritten(const Bytes& bytes, const Change& change) {
  io::ZipReader zip(io::MappedFile::from_bytes(bytes, "original"));
  std::string path = (std::filesystem::path(testing::TempDir()) /
                      concat("hotaru_pt2_mutant_", ::getpid(), ".pt2"))
                         .string();
  io::ZipWriter writer(path, zip.root());
  for (const io::ZipRecord& record : zip.records()) {
    std::string contents = zip.read(record);
    change(record.name, contents);
    writer.add(record.name, contents);
  }
  writer.finish();
  Bytes out = read_all(path);
  std::filesystem::remove(path);
  return out;
}

void collect(Json& value, std::vector<Json*>& out) {
  out.push_back(&value);
  if (!value.is_structured()) return;
  for (Json& item : value) collect(item, out);
}

// A value of the program becomes another: of this program, or an odd one.
void change_json(Json& program, Random& random) {
  std::vector<Json*> places;
  collect(program, places);
  static const Json kOdd[] = {nullptr,     true,
                              -1,          0,
                              1,           INT64_MAX,
                              INT64_MIN,   1e300,
                              "",          "x",
                              "self",      "Infinity",
                              "torch",     Json::array(),
                              {{}},        "\n",
                              "a b",       "as_none",
                              "../weight", 7,
                              UINT64_MAX,  "torch.ops.higher_order.while_loop"};
  for (size_t n = 1 + random() % 3; n > 0; --n) {
    Json& place = *places[random() % places.size()];
    switch (random() % 4) {
      case 0:
      case 1: {
        Json odd = kOdd[random() % std::size(kOdd)];
        place = std::move(odd);
        break;
      }
      case 2: {
        Json other = *places[random() % places.size()];
        place = std::move(other);
        break;
      }
      default:
        if (place.is_array() && !place.empty()) {
          place.erase(random() % place.size());
        } else if (place.is_object() && !place.empty()) {
          place.erase(std::next(place.begin(),
                                std::ptrdiff_t(random() % place.size())));
        }
    }
    places.clear();
    collect(program, places);
  }
}

Bytes json_mutant(const Bytes& bytes, Random& random) {
  const bool config = random() % 4 == 0;
  return rewritten(bytes, [&](std::string_view name, std::string& contents) {
    if (!name.ends_with(config ? "_config.json" : "models/model.json")) return;
    Json program = Json::parse(contents);
    change_json(program, random);
    contents = program.dump();
  });
}

Bytes text_mutant(const Bytes& bytes, Random& random) {
  return rewritten(bytes, [&](std::string_view name, std::string& contents) {
    if (!name.ends_with(".json") || contents.empty()) return;
    for (size_t n = 1 + random() % 4; n > 0; --n)
      contents[random() % contents.size()] = char(random());
  });
}

Bytes byte_mutant(const Bytes& bytes, Random& random) {
  Bytes out = bytes;
  for (size_t n = 1 + random() % 8; n > 0; --n)
    out[random() % out.size()] = static_cast<std::byte>(random());
  if (random() % 8 == 0) out.resize(random() % out.size());
  return out;
}

template <class Mutate>
void expect_handled(const std::string& name, int count, const Mutate& mutate) {
  const Bytes original = golden(name);
  ASSERT_EQ(run_child(original), kAccepted) << name;
  int accepted = 0;
  for (int seed = 0; seed < count; ++seed) {
    Random random(static_cast<uint64_t>(seed));
    const int outcome = run_child(mutate(original, random));
    accepted += outcome == kAccepted;
    EXPECT_TRUE(outcome == kAccepted || outcome == kRejected)
        << name << ", seed " << seed
        << (outcome < 0 ? concat(": ended by signal ", -outcome)
                        : concat(": outcome ", outcome));
  }
  EXPECT_LT(accepted, count) << "no damage was ever noticed";
}

TEST(Pt2Mutants, Json) {
  for (const char* name : {"trees", "cond", "counter.core", "lstm"})
    expect_handled(name, 250, json_mutant);
}

TEST(Pt2Mutants, TextOfTheJson) {
  expect_handled("cond", 300, text_mutant);
  expect_handled("items", 200, text_mutant);
}

TEST(Pt2Mutants, Bytes) {
  expect_handled("trees", 300, byte_mutant);
  expect_handled("bn_train", 200, byte_mutant);
}

}  // namespace
}  // namespace hotaru::exchange
