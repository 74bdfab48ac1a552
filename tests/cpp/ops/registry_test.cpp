// Every registered operator's schema, and the promotion lattice.
#include "hotaru/ops/registry.h"

#include <gtest/gtest.h>

#include <array>

namespace hotaru {
namespace {

TEST(Registry, EverySchemaReadsWhatItPrints) {
  size_t count = 0;
  for (const std::string_view name : Registry::instance().names())
    for (const Operator* op : Registry::instance().find(name)) {
      const std::string text = op->schema().str();
      EXPECT_EQ(Schema::parse(text).str(), text);
      EXPECT_EQ(op->name(), op->schema().name);
      ++count;
    }
  EXPECT_GT(count, 300u);
}

TEST(Registry, OverloadsOfANameDiffer) {
  for (const std::string_view name : Registry::instance().names()) {
    const auto& overloads = Registry::instance().find(name);
    for (const Operator* a : overloads)
      for (const Operator* b : overloads)
        EXPECT_TRUE(a == b || a->schema().overload != b->schema().overload)
            << a->text();
  }
}

TEST(DType, PromotionIsALattice) {
  constexpr std::array kAll{
      DType::kBool,    DType::kUInt8,   DType::kInt8,      DType::kInt16,
      DType::kInt32,   DType::kInt64,   DType::kFloat16,   DType::kBFloat16,
      DType::kFloat32, DType::kFloat64, DType::kComplex64, DType::kComplex128};
  for (const DType a : kAll)
    for (const DType b : kAll) {
      const DType joined = promote_types(a, b);
      EXPECT_EQ(joined, promote_types(b, a));
      EXPECT_EQ(promote_types(joined, a), joined);
      EXPECT_TRUE(can_cast(a, joined));
    }
  EXPECT_EQ(promote_types(DType::kUInt8, DType::kInt8), DType::kInt16);
  EXPECT_EQ(promote_types(DType::kFloat16, DType::kBFloat16), DType::kFloat32);
}

}  // namespace
}  // namespace hotaru
