#include "hotaru/io/unpickler.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <unordered_map>

#include "hotaru/core/error.h"
#include "hotaru/io/pickler.h"
#include "hotaru/io/torch_file.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru::io {
namespace {

// Storages of 16 bytes under every key.
class Host : public PickleHost {
 public:
  Ref<Storage> storage(const std::string&, DType dtype, int64_t numel,
                       const std::string&) override {
    HOTARU_CHECK(uint64_t(numel) <= 16 / itemsize(dtype), "does not fit");
    return make_ref<Storage>(bytes_, 16, Device(), nullptr);
  }
  Value instance(const std::string&) override { return {}; }
  void set_state(const Value&, Value) override {}
  Tensor tensor_by_id(int64_t) override { fail("no constants"); }

 private:
  alignas(16) char bytes_[16] = {};
};

Value read(const std::string& pickle, PickleLimits limits = {}) {
  Host host;
  return unpickle(pickle, "file.pt: record 'data.pkl'", host, limits);
}

std::string error_of(const std::string& pickle, PickleLimits limits = {}) {
  try {
    read(pickle, limits);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string repeat(const std::string& text, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += text;
  return out;
}

// A tensor over the host's storage with the given offset, sizes and strides.
std::string tensor_pickle(const std::string& numel, const std::string& offset,
                          const std::string& sizes,
                          const std::string& strides) {
  return std::string("\x80\x02") + "ctorch._utils\n_rebuild_tensor_v2\n(" +
         "(X\x07" + std::string(3, '\0') + "storagectorch\nFloatStorage\nX" +
         std::string("\x01\0\0\0", 4) + "0X" + std::string("\x03\0\0\0", 4) +
         "cpu" + numel + "tQ" + offset + sizes + strides +
         "\x89"
         "ccollections\nOrderedDict\n)RtR.";
}

TEST(Unpickler, RoundTripOfEveryKind) {
  auto dict = make_ref<DictObject>();
  dict->set("tuple", Value::tuple({Value(1), Value(2.5), Value(true), {}}));
  dict->set("big", Value(int64_t{1} << 40));
  dict->set("negative", Value(int64_t{-5}));
  dict->set("complex", Value(std::complex<double>(1, -2)));
  dict->set("list", Value::list({Value("text"), Value::list({})}));
  dict->set(Value(7), Value(Device::parse("cpu")));
  Pickler pickler;
  Value result = read(pickler.pickle(Value(dict)));
  const DictObject& out = result.as_dict();
  ASSERT_EQ(out.items.size(), 6u);
  const auto& tuple = out.find("tuple")->as_tuple().items;
  EXPECT_EQ(tuple[0].as_int(), 1);
  EXPECT_EQ(tuple[1].as_double(), 2.5);
  EXPECT_TRUE(tuple[2].as_bool());
  EXPECT_TRUE(tuple[3].is_none());
  EXPECT_EQ(out.find("big")->as_int(), int64_t{1} << 40);
  EXPECT_EQ(out.find("negative")->as_int(), -5);
  EXPECT_EQ(out.find("complex")->as_complex(), std::complex<double>(1, -2));
  EXPECT_EQ(out.find("list")->as_list().items[0].as_string(), "text");
  EXPECT_TRUE(out.find(Value(7))->is_device());
}

TEST(Unpickler, ForeignGlobalsAndOpcodesAreRejected) {
  const std::pair<std::string, const char*> cases[] = {
      {"cos\nsystem\n(X\x02\0\0\0lstR.", "os.system"},
      {"cbuiltins\neval\n.", "builtins.eval"},
      {"ctorch\nload\n.", "torch.load"},
      {"\x80\x04N.", "protocol 4"},
      {"ios\nsystem\n.", "opcode 0x69"},
      {"\x95" + std::string(8, '\0'), "opcode 0x95"},
  };
  for (const auto& [pickle, text] : cases) {
    std::string error = error_of(pickle);
    EXPECT_NE(error.find(text), std::string::npos) << error;
    EXPECT_NE(error.find("file.pt: record 'data.pkl', at byte"),
              std::string::npos)
        << error;
  }
}

TEST(Unpickler, MisuseOfTheStackIsAnError) {
  const std::string cases[] = {"",
                               ".",
                               "N",
                               "NN.",
                               "0.",
                               "(.",
                               "t.",
                               "a.",
                               "Na.",
                               "NNs.",
                               "N(e.",
                               "](NNu.",
                               "}(Nu.",
                               "h\x05.",
                               "q\0.",
                               "R.",
                               "N)R.",
                               "N)\x81.",
                               "Nb.",
                               "\x85.",
                               "N\x86.",
                               "](0.",
                               "Q.",
                               "NQ.",
                               "(]t(0.",
                               "}]]s.",
                               "X\xff\xff\xff\xff.",
                               "\x8a\x09"
                               "123456789.",
                               "ctorch\nFloatStorage\n.",
                               "]ctorch\nFloatStorage\na."};
  for (const std::string& pickle : cases)
    EXPECT_NE(error_of(pickle), "") << testing::PrintToString(pickle);
}

TEST(Unpickler, NestingCyclesAndSharingAreBounded) {
  constexpr int kDeep = 100000;
  EXPECT_NE(error_of(")" + repeat("\x85", kDeep) + "."), "");
  EXPECT_NE(error_of(repeat("]", kDeep) + repeat("a", kDeep - 1) + "."), "");
  EXPECT_NE(
      error_of("]q" + std::string(1, '\0') + "h" + std::string(1, '\0') + "a.")
          .find("contain themselves"),
      std::string::npos);
  // Each level holds the one before twice: 2^60 values in 400 bytes.
  std::string doubling = ")";
  for (char i = 1; i < 60; ++i)
    doubling += std::string("q") + i + "h" + i + "\x86";
  EXPECT_NE(error_of(doubling + ".").find("share each other"),
            std::string::npos);
}

TEST(Unpickler, MemoryIsBounded) {
  PickleLimits limits;
  limits.memory = 1 << 20;
  EXPECT_NE(error_of("(" + repeat("]", 100000) + "t.", limits)
                .find("more than 1048576 bytes"),
            std::string::npos);
  EXPECT_NE(error_of(repeat("(", 1000000), limits), "");
}

TEST(Unpickler, TensorsStayInsideTheirStorage) {
  const std::string four("K\x04");
  const std::string zero("K\0", 2);
  auto tuple = [](const std::string& items) { return "(" + items + "t"; };
  EXPECT_EQ(error_of(tensor_pickle(four, zero, tuple("K\x04"), tuple("K\x01"))),
            "");
  const std::string huge = "\x8a\x08" + std::string(7, '\xff') + "\x7f";
  const std::pair<const char*, std::string> hostile[] = {
      {"too long", tensor_pickle(four, zero, tuple("K\x05"), tuple("K\x01"))},
      {"offset", tensor_pickle(four, "K\x01", tuple("K\x04"), tuple("K\x01"))},
      {"stride", tensor_pickle(four, zero, tuple("K\x04"), tuple("K\x02"))},
      {"negative offset", tensor_pickle(four, "J\xff\xff\xff\xff",
                                        tuple("K\x01"), tuple("K\x01"))},
      {"negative stride",
       tensor_pickle(four, zero, tuple("K\x02"), tuple("J\xff\xff\xff\xff"))},
      {"overflow", tensor_pickle(four, huge, tuple("K\x02"), tuple(huge))},
      {"product",
       tensor_pickle(four, zero, tuple(huge + huge), tuple("K\x01K\x01"))},
      {"ranks", tensor_pickle(four, zero, tuple("K\x02"), tuple("K\x01K\x01"))},
      {"storage",
       tensor_pickle("M\xff\xff", zero, tuple("K\x01"), tuple("K\x01"))},
  };
  for (const auto& [what, pickle] : hostile)
    EXPECT_NE(error_of(pickle), "") << what;
}

TEST(TorchFile, StateDictsSurviveWithSharedMemory) {
  std::string path = (std::filesystem::path(testing::TempDir()) /
                      concat("state_", ::getpid(), ".pt"))
                         .string();
  Tensor base = arange(Scalar(0.0), Scalar(6.0), Scalar(1.0));
  Tensor matrix = view(base, Dims{2, 3});
  auto dict = make_ref<DictObject>();
  dict->set("weight", matrix);
  dict->set("transposed", t(matrix));
  dict->set("step", Value(3));
  save_torch_file(path, Value(dict));
  Value loaded = load_torch_file(path);
  std::filesystem::remove(path);
  Tensor weight = loaded.as_dict().find("weight")->as_tensor();
  Tensor transposed = loaded.as_dict().find("transposed")->as_tensor();
  EXPECT_EQ(weight.storage(), transposed.storage());
  EXPECT_TRUE(same(transposed.sizes(), Dims{3, 2}));
  EXPECT_TRUE(same(transposed.strides(), Dims{1, 3}));
  EXPECT_EQ(weight.data<float>()[5], 5.0f);
  EXPECT_EQ(loaded.as_dict().find("step")->as_int(), 3);
}

TEST(TorchFile, DTypesWithoutTypedStorages) {
  const Tensor base =
      to(arange(Scalar(0.0), Scalar(6.0), Scalar(1.0)), DType::kUInt16);
  const std::string file = save_torch_bytes(Value(t(view(base, Dims{2, 3}))));
  EXPECT_NE(file.find("_rebuild_tensor_v3"), std::string::npos);
  const auto* bytes = reinterpret_cast<const std::byte*>(file.data());
  const Value loaded = load_torch_bytes({bytes, bytes + file.size()}, "file");
  const Tensor tensor = loaded.as_tensor();
  EXPECT_EQ(tensor.dtype(), DType::kUInt16);
  EXPECT_TRUE(same(tensor.strides(), Dims{1, 3}));
  EXPECT_EQ(tensor.data<uint16_t>()[5], 5);
}

TEST(TorchFile, OnlyDataCanBeSaved) {
  std::string path = (std::filesystem::path(testing::TempDir()) /
                      concat("unsaved_", ::getpid(), ".pt"))
                         .string();
  auto object = make_ref<InstanceObject>(Ref<RefCounted>());
  EXPECT_THROW(save_torch_file(path, Value(object)), TypeError);
  auto cycle = make_ref<ListObject>(std::vector<Value>());
  cycle->items.push_back(Value(cycle));
  EXPECT_NO_THROW(Pickler().pickle(Value(cycle)));  // by reference
  cycle->items.clear();
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace hotaru::io
