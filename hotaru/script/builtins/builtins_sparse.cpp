// Sparse tensors, which another language makes and takes apart.
#include "hotaru/core/printing/concat.h"
#include "hotaru/script/builtins/builtins.h"
#include "hotaru/script/run/foreign.h"

namespace hotaru::script {

namespace {

constexpr const char* kSparseOptions =
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None";

// A method of a tensor's that takes nothing else.
#define HOTARU_METHOD(name, result) \
  table.add( \
      #name "(Tensor self) -> " result, +[](Value self) { \
        return call_foreign(#name, {{"", self}}); \
      })

void add_parts(BuiltinTable& table) {
  HOTARU_METHOD(coalesce, "Tensor");
  HOTARU_METHOD(is_coalesced, "bool");
  HOTARU_METHOD(indices, "Tensor");
  HOTARU_METHOD(_indices, "Tensor");
  HOTARU_METHOD(values, "Tensor");
  HOTARU_METHOD(_values, "Tensor");
  HOTARU_METHOD(_nnz, "int");
  HOTARU_METHOD(crow_indices, "Tensor");
  HOTARU_METHOD(col_indices, "Tensor");
  HOTARU_METHOD(ccol_indices, "Tensor");
  HOTARU_METHOD(row_indices, "Tensor");
  HOTARU_METHOD(sparse_dim, "int");
  HOTARU_METHOD(dense_dim, "int");
}

#undef HOTARU_METHOD

void add_conversions(BuiltinTable& table) {
  table.add(
      "to_dense(Tensor self, ScalarType? dtype=None, *, bool? "
      "masked_grad=None) -> Tensor",
      +[](Value self, Value dtype, Value masked) {
        return call_foreign(
            "to_dense",
            {{"", self}, {"dtype", dtype}, {"masked_grad", masked}});
      });
  table.add(
      "to_sparse.sparse_dim(Tensor self, int sparse_dim) -> Tensor",
      +[](Value self, Value dim) {
        return call_foreign("to_sparse", {{"", self}, {"", dim}});
      });
  table.add(
      "to_sparse(Tensor self, *, Layout? layout=None, int[2]? blocksize=None, "
      "int? dense_dim=None) -> Tensor",
      +[](Value self, Value layout, Value blocks, Value dense) {
        return call_foreign("to_sparse", {{"", self},
                                          {"layout", layout},
                                          {"blocksize", blocks},
                                          {"dense_dim", dense}});
      });
  table.add(
      "to_sparse_csr(Tensor self, int? dense_dim=None) -> Tensor",
      +[](Value self, Value dense) {
        return call_foreign("to_sparse_csr",
                            {{"", self}, {"dense_dim", dense}});
      });
  table.add(
      "to_sparse_csc(Tensor self, int? dense_dim=None) -> Tensor",
      +[](Value self, Value dense) {
        return call_foreign("to_sparse_csc",
                            {{"", self}, {"dense_dim", dense}});
      });
  table.add(
      "to_mkldnn(Tensor self, ScalarType? dtype=None) -> Tensor",
      +[](Value self, Value dtype) {
        return call_foreign("to_mkldnn", {{"", self}, {"dtype", dtype}});
      });
  table.add(
      "_sparse_mm(Tensor sparse, Tensor dense) -> Tensor",
      +[](Value sparse, Value dense) {
        return call_foreign("_sparse_mm", {{"", sparse}, {"", dense}});
      });
}

Value make(const char* name, ForeignArguments arguments, Value dtype,
           Value layout, Value device, Value pin) {
  arguments.insert(arguments.end(), {{"dtype", dtype},
                                     {"layout", layout},
                                     {"device", device},
                                     {"pin_memory", pin}});
  return call_foreign(name, arguments);
}

void add_makers(BuiltinTable& table) {
  const std::string options =
      concat(kSparseOptions, ", bool? is_coalesced=None");
  table.add(
      concat("sparse_coo_tensor.indices_size(Tensor indices, Tensor values, "
             "int[] size, ",
             options, ") -> Tensor"),
      +[](Value indices, Value values, Value size, Value dtype, Value layout,
          Value device, Value pin, Value coalesced) {
        return make("sparse_coo_tensor",
                    {{"", indices},
                     {"", values},
                     {"", size},
                     {"is_coalesced", coalesced}},
                    dtype, layout, device, pin);
      });
  table.add(
      concat("sparse_coo_tensor.indices(Tensor indices, Tensor values, ",
             options, ") -> Tensor"),
      +[](Value indices, Value values, Value dtype, Value layout, Value device,
          Value pin, Value coalesced) {
        return make("sparse_coo_tensor",
                    {{"", indices}, {"", values}, {"is_coalesced", coalesced}},
                    dtype, layout, device, pin);
      });
  table.add(
      concat("sparse_coo_tensor.size(int[] size, ", kSparseOptions,
             ") -> Tensor"),
      +[](Value size, Value dtype, Value layout, Value device, Value pin) {
        return make("sparse_coo_tensor", {{"", size}}, dtype, layout, device,
                    pin);
      });
  table.add(
      concat("sparse_csr_tensor.crow_col_value_size(Tensor crow_indices, "
             "Tensor col_indices, Tensor values, int[] size, ",
             kSparseOptions, ") -> Tensor"),
      +[](Value rows, Value columns, Value values, Value size, Value dtype,
          Value layout, Value device, Value pin) {
        return make("sparse_csr_tensor",
                    {{"", rows}, {"", columns}, {"", values}, {"", size}},
                    dtype, layout, device, pin);
      });
  table.add(
      concat("sparse_csr_tensor.crow_col_value(Tensor crow_indices, Tensor "
             "col_indices, Tensor values, ",
             kSparseOptions, ") -> Tensor"),
      +[](Value rows, Value columns, Value values, Value dtype, Value layout,
          Value device, Value pin) {
        return make("sparse_csr_tensor",
                    {{"", rows}, {"", columns}, {"", values}}, dtype, layout,
                    device, pin);
      });
}

}  // namespace

void add_sparse_builtins(BuiltinTable& table) {
  add_parts(table);
  add_conversions(table);
  add_makers(table);
}

}  // namespace hotaru::script
