// The checksums are those of torch 2.13.0 (CPU, AVX2 and AVX-512 alike) for
// the same fills after torch.manual_seed(1234567).
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "hotaru/backend/cpu/random/cpu_generator.h"
#include "hotaru/backend/cpu/random/random_fill.h"
#include "hotaru/core/boolean.h"
#include "hotaru/core/error.h"
#include "hotaru/core/half.h"

namespace hotaru {
namespace {

uint64_t fnv1a(const void* data, size_t bytes) {
  const auto* p = static_cast<const uint8_t*>(data);
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ p[i]) * 0x100000001b3u;
  return hash;
}

/// Fills n elements and compares bytes and the state left behind, of which
/// the following draw below 2^20 is a sample.
template <class T, class F>
void expect_fill(const char* what, int64_t n, uint64_t checksum,
                 int64_t following, const F& fill) {
  CpuGenerator gen(1234567);
  // Not std::vector: bool needs memory of its own.
  std::unique_ptr<T[]> out(new T[n]());
  fill(out.get(), n, gen);
  EXPECT_EQ(fnv1a(out.get(), n * sizeof(T)), checksum) << what << " " << n;
  int64_t next = 0;
  random_from_to_fill(&next, 1, 1 << 20, 0, gen);
  EXPECT_EQ(next, following) << what << " " << n;
}

struct FloatingGolden {
  uint64_t uniform, normal15, normal16, normal20, normal3001, serial35,
      exponential;
  int64_t after16, after20, after3001, after_uniform;
};

template <class T>
void expect_floating(const FloatingGolden& g) {
  expect_fill<T>("uniform", 3001, g.uniform, g.after_uniform,
                 [](T* out, int64_t n, CpuGenerator& gen) {
                   uniform_fill(out, n, -1.5, 2.3, gen);
                 });
  auto normal = [](T* out, int64_t n, CpuGenerator& gen) {
    normal_fill(out, n, 0.3, 1.7, gen);
  };
  expect_fill<T>("normal", 15, g.normal15, 541486, normal);
  expect_fill<T>("normal", 16, g.normal16, g.after16, normal);
  expect_fill<T>("normal", 20, g.normal20, g.after20, normal);
  expect_fill<T>("normal", 3001, g.normal3001, g.after3001, normal);
  expect_fill<T>("serial", 35, g.serial35, 686471,
                 [](T* out, int64_t n, CpuGenerator& gen) {
                   normal_fill(out, n, 0.3, 1.7, gen, NormalPath::kSerial);
                 });
  expect_fill<T>("exponential", 1001, g.exponential, 242,
                 [](T* out, int64_t n, CpuGenerator& gen) {
                   exponential_fill(out, n, 1.5, gen);
                 });
}

TEST(RandomFill, FloatingDrawsArePyTorchs) {
  expect_floating<float>({0x910597e8a4867586u, 0xf844a25b72ececadu,
                          0x430cbf36ce51fca1u, 0x25ebb2064a3f7e7eu,
                          0x44208f509440de4du, 0xe765ebd30fc03e61u,
                          0xefee0fe964db7b59u, 897794, 580650, 486190, 426907});
  expect_floating<double>(
      {0x455f154e9714bf4au, 0x023e299408ad0ad0u, 0xf122ea1a0ca16e28u,
       0x88d2a752844152a3u, 0x7e92e356bf420dcdu, 0xb29ce4d296fa2059u,
       0x2ab798ef7fa4341du, 541486, 686471, 301272, 880140});
  expect_floating<Half>({0x4be68841dd72b1a9u, 0xd5c660dc9d696d04u,
                         0x3902bdef0b3271f1u, 0x5c62d72756e07dd3u,
                         0x189d061782c7e254u, 0xbb1381db26f456efu,
                         0xd0740f64ccf2cecau, 897794, 541486, 587351, 426907});
  expect_floating<BFloat16>(
      {0xe2f60df004f6f772u, 0xa352df1bd3e57624u, 0xf20ea85b91535c11u,
       0x0d9a157b340b6370u, 0xee5baf5d9d6810a6u, 0x92203d5e928eeca1u,
       0x57a143091cccc2d5u, 897794, 541486, 587351, 426907});
}

template <class T>
void expect_full_and_bernoulli(uint64_t full, uint64_t bernoulli) {
  expect_fill<T>("random_", 1001, full, sizeof(T) == 8 ? 242 : 476816,
                 [](T* out, int64_t n, CpuGenerator& gen) {
                   random_full_fill(out, n, gen);
                 });
  expect_fill<T>("bernoulli_", 1001, bernoulli, 242,
                 [](T* out, int64_t n, CpuGenerator& gen) {
                   bernoulli_fill(out, n, 0.3, gen);
                 });
}

TEST(RandomFill, ManyNormalDrawsArePyTorchs) {
  // Differences in the order of fused operations show in 1 of 10,000 draws.
  std::vector<float> out(400000);
  CpuGenerator gen(77);
  normal_fill(out.data(), 400000, 0.3, 1.7, gen);
  EXPECT_EQ(fnv1a(out.data(), out.size() * sizeof(float)), 0x424ed14aa7622989u);
}

TEST(RandomFill, UniformNeverReachesItsEnd) {
  std::vector<BFloat16> out(200000);
  CpuGenerator gen(1);
  uniform_fill(out.data(), 200000, 0, 1, gen);
  int zeros = 0;
  for (BFloat16 x : out) {
    ASSERT_LT(float(x), 1.0f);
    zeros += float(x) == 0.0f;
  }
  EXPECT_EQ(zeros, 402);  // PyTorch's count
}

TEST(RandomFill, DrawsOfEveryTypeArePyTorchs) {
  expect_full_and_bernoulli<float>(0x95037b75a2566a31u, 0x716147ab697e1f48u);
  expect_full_and_bernoulli<double>(0x9ca1528e003de9b9u, 0xc04e0008a143d358u);
  expect_full_and_bernoulli<Half>(0x597a054b4487d65au, 0xbfbd4001e27c8d09u);
  expect_full_and_bernoulli<BFloat16>(0x8062b43d88a87450u, 0x75a346700cac1518u);
  expect_full_and_bernoulli<uint8_t>(0x3af4141f5599d3cbu, 0x9ce55cd4e683a27au);
  expect_full_and_bernoulli<int8_t>(0x903d565a29013d4bu, 0x9ce55cd4e683a27au);
  expect_full_and_bernoulli<int16_t>(0x0de618d49d699fd0u, 0xfdb956ad3c0897acu);
  expect_full_and_bernoulli<int32_t>(0xa8b27c71393ada2au, 0xcfd7b225ba3842f4u);
  expect_full_and_bernoulli<int64_t>(0x7a0237e560c0268eu, 0x17cc685a0d5265c4u);
  expect_full_and_bernoulli<Bool>(0x6c2076c7bed4c3f3u, 0x9ce55cd4e683a27au);
}

template <class T>
void expect_randint(uint64_t range, int64_t from, uint64_t checksum,
                    int64_t following) {
  expect_fill<T>("random_(from, to)", 1001, checksum, following,
                 [=](T* out, int64_t n, CpuGenerator& gen) {
                   random_from_to_fill(out, n, range, from, gen);
                 });
}

TEST(RandomFill, RangesArePyTorchs) {
  expect_randint<int64_t>(1005, -5, 0x4bb6e10390e637fdu, 476816);
  // The last range of 32-bit draws and the first of 64-bit draws.
  expect_randint<int64_t>((1 << 28) - 1, -5, 0x8a3e9c231025cecbu, 476816);
  expect_randint<int64_t>(1 << 28, -5, 0x06027e89ddf872f2u, 242);
  expect_randint<int64_t>(0, INT64_MIN, 0xd1f84c20f2c6218eu, 242);
  expect_randint<float>(1 << 20, 0, 0x4c4b65a2343f010fu, 476816);
  expect_randint<uint8_t>(197, 3, 0x1ffba7ac5c441626u, 476816);
}

template <class T, class P>
void expect_bernoulli_of(uint64_t checksum, int64_t following) {
  expect_fill<T>("bernoulli", 1001, checksum, following,
                 [](T* out, int64_t n, CpuGenerator& gen) {
                   std::vector<P> p(n);
                   for (int64_t i = 0; i < n; ++i) p[i] = P(i) / P(1001);
                   bernoulli_fill(out, n, p.data(), gen);
                 });
}

TEST(RandomFill, ProbabilitiesPerElementArePyTorchs) {
  expect_bernoulli_of<float, float>(0xf83bb07bd08fd678u, 476816);
  expect_bernoulli_of<double, double>(0x486eb81fe8b2a805u, 242);
}

TEST(RandomFill, PermutationsArePyTorchs) {
  auto perm = [](auto* out, int64_t n, CpuGenerator& gen) {
    randperm_fill(out, n, gen);
  };
  expect_fill<int64_t>("randperm", 1000, 0x06eac3de2af2daf9u, 556024, perm);
  expect_fill<float>("randperm", 1000, 0x955a9e3b1e33baecu, 556024, perm);
}

TEST(Mt19937Test, DrawsEqualTheStandardLibrarys) {
  std::mt19937 expected(42);
  Mt19937 engine(42);
  for (int i = 0; i < 700; ++i) ASSERT_EQ(engine(), expected()) << i;
  for (int64_t done = 0; done < 5000;) {
    int64_t count = 100;
    const uint32_t* words = engine.take(count);
    ASSERT_GT(count, 0);
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(Mt19937::temper(words[i]), expected());
    done += count;
  }
}

TEST(GeneratorTest, StateIsPyTorchs) {
  // torch.manual_seed(99); torch.randn(7); torch.rand(3); get_rng_state()
  CpuGenerator gen(99);
  std::vector<float> out(7);
  normal_fill(out.data(), 7, 0, 1, gen);
  uniform_fill(out.data(), 3, 0, 1, gen);
  std::vector<uint8_t> state = gen.get_state();
  ASSERT_EQ(state.size(), 5056u);
  EXPECT_EQ(fnv1a(state.data(), state.size()), 0x8c14be4e57ef59f6u);
}

TEST(GeneratorTest, StateRestoresDrawsAndTheCachedNormal) {
  CpuGenerator gen(5);
  for (int i = 0; i < 301; ++i) gen.normal_double();
  std::vector<uint8_t> state = gen.get_state();
  CpuGenerator other(6);
  other.set_state(state);
  EXPECT_EQ(other.initial_seed(), 5u);
  EXPECT_EQ(other.get_state(), state);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(other.normal_double(), gen.normal_double());
}

TEST(GeneratorTest, FreshStatesMayBeSaved) {
  CpuGenerator gen(7), other(8);
  other.set_state(gen.get_state());
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(other.random(), gen.random());
}

TEST(GeneratorTest, RejectsBadStates) {
  CpuGenerator gen(5);
  gen.random();
  const std::vector<uint8_t> good = gen.get_state();
  auto expect_error = [&](std::vector<uint8_t> bytes, const char* text) {
    try {
      gen.set_state(bytes);
      ADD_FAILURE() << "no exception: " << text;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), text);
    }
    EXPECT_EQ(gen.get_state(), good);
  };
  expect_error(std::vector<uint8_t>(100),
               "Expected a CPUGeneratorImplState of size 5056 but found the "
               "input RNG state size to be 100");
  expect_error(std::vector<uint8_t>(5056), "Invalid mt19937 state");
  auto with = [&](size_t offset, int32_t value) {
    std::vector<uint8_t> bytes = good;
    std::memcpy(bytes.data() + offset, &value, sizeof(value));
    return bytes;
  };
  for (int32_t left : {0, -1, 625, 1 << 30})
    expect_error(with(8, left), "Invalid mt19937 state");
  expect_error(with(16, 2), "Invalid mt19937 state");  // next + left too large
  expect_error(with(20, 1), "Invalid mt19937 state");  // next beyond 2^32
}

TEST(GeneratorTest, SeedsUseTheLower32BitsAndClearTheCache) {
  CpuGenerator gen((uint64_t{1} << 40) + 7), same(7);
  EXPECT_EQ(gen.initial_seed(), (uint64_t{1} << 40) + 7);
  EXPECT_EQ(gen.normal_double(), same.normal_double());
  gen.manual_seed(7);
  same.manual_seed(7);
  EXPECT_EQ(gen.normal_double(), same.normal_double());
  const uint64_t seed = gen.seed();
  EXPECT_EQ(seed, gen.initial_seed());
  EXPECT_NE(seed, gen.seed());
}

}  // namespace
}  // namespace hotaru
