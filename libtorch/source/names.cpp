// Names of dimensions, which tensors here have none of.
#include "ATen/core/Tensor.h"
#include "c10/util/Exception.h"

namespace at {
namespace {

[[noreturn]] void no_names(const char* method) {
  throw c10::NotImplementedError(std::string(method) +
                                 "(): hotaru has no named tensors");
}

}  // namespace

Tensor Tensor::rename(optional<DimnameList> names) const {
  if (names) no_names("rename");
  return *this;
}
Tensor& Tensor::rename_(optional<DimnameList> names) const {
  if (names) no_names("rename_");
  return const_cast<Tensor&>(*this);
}
Tensor Tensor::refine_names(DimnameList) const {
  no_names("refine_names");
}
Tensor Tensor::align_to(DimnameList) const {
  no_names("align_to");
}
Tensor Tensor::align_to(DimnameList, int64_t) const {
  no_names("align_to");
}
Tensor Tensor::align_as(const Tensor&) const {
  no_names("align_as");
}
Tensor Tensor::flatten(DimnameList, Dimname) const {
  no_names("flatten");
}
Tensor Tensor::unflatten(Dimname, IntArrayRef, DimnameList) const {
  no_names("unflatten");
}

}  // namespace at
