// Archives that are written: what comes back is what was there, bit for bit.
#include <gtest/gtest.h>

#include <filesystem>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/error.h"
#include "hotaru/io/zip_reader.h"
#include "hotaru/runtime/threads/future.h"
#include "hotaru/script/archive/archive.h"

namespace hotaru::script {
namespace {

const char* const kArchives[] = {
    "language",    "language_old",    "networks",    "networks_old",
    "frozen_conv", "frozen_conv_old", "frozen_lstm", "frozen_lstm_old"};

std::string golden(const std::string& name) {
  return std::string(HOTARU_GOLDEN) + "/script/" + name + ".pt";
}

std::string saved(const Module& module,
                  const std::map<std::string, std::string>& extra = {}) {
  std::string out;
  save(
      module, [&](std::string_view bytes) { out += bytes; }, "archive", extra);
  return out;
}

std::vector<std::byte> to_bytes(const std::string& text) {
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Module reloaded(const Module& module) {
  return load(to_bytes(saved(module)), "saved");
}

Module child(const Module& module, const std::string& name) {
  Value value = module.attribute(name);
  return Module(Ref<InstanceObject>(&value.as_instance()));
}

void expect_equal_bytes(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.dtype(), b.dtype());
  ASSERT_TRUE(same(a.sizes(), b.sizes()));
  ASSERT_TRUE(a.is_contiguous() && b.is_contiguous());
  EXPECT_EQ(std::memcmp(a.raw_data(), b.raw_data(),
                        size_t(a.numel()) * itemsize(a.dtype())),
            0);
}

class Save : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Archives, Save, testing::ValuesIn(kArchives),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

TEST_P(Save, TheSameModuleGivesTheSameBytes) {
  Module module = load(golden(GetParam()));
  std::string bytes = saved(module);
  EXPECT_EQ(saved(module), bytes);
  EXPECT_EQ(saved(load(to_bytes(bytes), "saved")), bytes);
}

TEST_P(Save, TensorsAndTheirNamesComeBack) {
  Module module = load(golden(GetParam()));
  Module again = reloaded(module);
  auto expect_equal = [](const auto& before, const auto& after) {
    ASSERT_EQ(before.size(), after.size());
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(before[i].first, after[i].first);
      expect_equal_bytes(before[i].second, after[i].second);
    }
  };
  expect_equal(module.named_parameters(), again.named_parameters());
  expect_equal(module.named_buffers(), again.named_buffers());
  EXPECT_EQ(module.method_names(), again.method_names());
  EXPECT_EQ(module.code(), again.code());
}

TEST_P(Save, PayloadsAreStoredAndAligned) {
  std::string text =
      saved(load(golden(GetParam())), {{"notes/a.txt", "hello"}});
  io::ZipReader zip(io::MappedFile::from_bytes(to_bytes(text), "saved"));
  EXPECT_EQ(zip.root(), "archive");
  for (const io::ZipRecord& record : zip.records()) {
    EXPECT_FALSE(record.deflated) << record.name;
    EXPECT_EQ(record.offset % 64, 0u) << record.name;
  }
  EXPECT_EQ(zip.read(zip.get("extra/notes/a.txt")), "hello");
  EXPECT_EQ(zip.read(zip.get("byteorder")), "little");
}

TEST(Save, ProgramsStillComputeTheSame) {
  Module all = reloaded(load(golden("language")));
  Module language = child(all, "module");
  for (const auto& [name, text] : all.attribute("expected").as_dict().items) {
    EXPECT_EQ(language.call(name.as_string(), {}).as_string(),
              text.as_string());
  }
  Module before = load(golden("networks"));
  Module after = reloaded(before);
  const autograd::NoGrad no_grad;
  for (const auto& [name, sample] : before.named_children()) {
    SCOPED_TRACE(name);
    Value input = sample.attribute("input");
    expect_equal_bytes(sample({input}).as_tensor(),
                       child(after, name)({input}).as_tensor());
  }
}

TEST(Save, WhatWasAssignedIsSaved) {
  Module all = load(golden("language"));
  Module language = child(all, "module");
  language.set_attribute("history", Value::int_list(Dims{7, 8}));
  language.set_attribute("threshold", 0.125);
  all.eval();
  Module again = child(reloaded(all), "module");
  EXPECT_EQ(again.attribute("history").to_int_vector(),
            (std::vector<int64_t>{7, 8}));
  EXPECT_EQ(again.attribute("threshold").as_double(), 0.125);
  EXPECT_FALSE(again.attribute("training").as_bool());
}

TEST(Save, ASubmoduleCanBeSavedAlone) {
  Module sample = child(load(golden("networks")), "lstm_script");
  Value input = sample.attribute("input");
  const autograd::NoGrad no_grad;
  expect_equal_bytes(sample({input}).as_tensor(),
                     reloaded(sample)({input}).as_tensor());
}

TEST(Save, FilesAppearWhole) {
  namespace fs = std::filesystem;
  fs::path folder = fs::path(testing::TempDir()) / "hotaru_save";
  fs::remove_all(folder);
  fs::create_directory(folder);
  Module module = load(golden("frozen_conv"));
  module.save(folder / "net.pt");
  EXPECT_EQ(load(folder / "net.pt").code(), module.code());
  io::ZipReader zip(io::MappedFile::open(folder / "net.pt"));
  EXPECT_EQ(zip.root(), "net");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  // Over the file that its tensors are mapped from.
  Module mapped = load(folder / "net.pt");
  mapped.save(folder / "net.pt");
  EXPECT_EQ(saved(load(folder / "net.pt")), saved(module));
  EXPECT_THROW(module.save(folder / "absent" / "net.pt"), Error);
  EXPECT_THROW(
      save(
          module, [](std::string_view) { throw std::runtime_error("full"); },
          "archive"),
      std::runtime_error);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace hotaru::script
