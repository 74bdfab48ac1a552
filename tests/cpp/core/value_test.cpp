#include "hotaru/core/value.h"

#include <gtest/gtest.h>

#include <iterator>
#include <limits>

namespace hotaru {
namespace {

/// Wraps `inner` in one more container of the given kind.
Value wrapped(Value inner, int kind) {
  std::vector<Value> items;
  items.push_back(std::move(inner));
  switch (kind) {
    case 0:
      return Value::list(std::move(items));
    case 1:
      return Value::tuple(std::move(items));
    case 2: {
      auto dict = make_ref<DictObject>();
      dict->set("next", std::move(items[0]));
      return dict;
    }
    default: {
      auto instance = make_ref<InstanceObject>(nullptr);
      instance->slots = std::move(items);
      return instance;
    }
  }
}

class NestedValue : public testing::TestWithParam<int> {};

TEST_P(NestedValue, ReleasesAnyDepthOnAShortStack) {
  const Tensor inner(
      make_ref<TensorImpl>(Ref<Storage>(), DType::kFloat32, IntSpan(), 1));
  Value value(inner);
  for (int depth = 0; depth < 500'000; ++depth)
    value = wrapped(std::move(value), GetParam());
  EXPECT_EQ(inner.impl()->use_count(), 2);
  value = {};
  EXPECT_EQ(inner.impl()->use_count(), 1);
}
INSTANTIATE_TEST_SUITE_P(Containers, NestedValue, testing::Range(0, 4));

TEST(Value, ASharedTailOutlivesTheHead) {
  const Value tail = Value::list({Value(7)});
  {
    Value head = tail;
    for (int depth = 0; depth < 1000; ++depth) head = wrapped(head, depth % 4);
  }
  EXPECT_EQ(tail.as_list().items.at(0).as_int(), 7);
  EXPECT_EQ(tail.as_list().use_count(), 1);
}

TEST(Value, WrongKindsNameBoth) {
  try {
    (void)Value("text").as_int();
    FAIL() << "a str was taken for an int";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("str"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("int"), std::string::npos);
  }
}

TEST(Value, DictionariesKeepInsertionOrderAfterErase) {
  DictObject dict;
  for (int i = 0; i < 6; ++i) dict.set(i, i * i);
  EXPECT_TRUE(dict.erase(2));
  EXPECT_FALSE(dict.erase(2));
  dict.set(2, 40);
  dict.set(0, 1);
  std::vector<int64_t> keys, values;
  for (const auto& [key, value] : dict.items) {
    keys.push_back(key.as_int());
    values.push_back(value.as_int());
    EXPECT_EQ(dict.find(key)->as_int(), value.as_int());
  }
  EXPECT_EQ(keys, (std::vector<int64_t>{0, 1, 3, 4, 5, 2}));
  EXPECT_EQ(values, (std::vector<int64_t>{1, 1, 9, 16, 25, 40}));
}

// Under UBSan a conversion that does not fit would end it.
TEST(Value, DictionariesTakeAnyNumberAsKey) {
  const double inf = std::numeric_limits<double>::infinity();
  const double keys[] = {0.0, 2.5, 1e35, -1e35, 0x1p63, -0x1p63, inf, -inf};
  DictObject dict;
  for (double key : keys) dict.set(key, key);
  for (double key : keys) EXPECT_EQ(dict.find(key)->as_double(), key);
  dict.set(std::numeric_limits<double>::quiet_NaN(), 1);
  // A whole number is the same key as an integer.
  EXPECT_EQ(dict.find(int64_t{0})->as_double(), 0);
  EXPECT_EQ(dict.find(std::numeric_limits<int64_t>::min())->as_double(),
            -0x1p63);
  EXPECT_EQ(dict.items.size(), std::size(keys) + 1);
}

}  // namespace
}  // namespace hotaru
