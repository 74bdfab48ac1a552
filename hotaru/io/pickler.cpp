#include "hotaru/io/pickler.h"

#include <cstring>
#include <utility>

#include "hotaru/autograd/node.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/sparse/sparse.h"
#include "hotaru/ops/create/copy.h"

namespace hotaru::io {

template <class T>
void Pickler::put(T value) {
  out_.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string Pickler::pickle(const Value& value) {
  begin();
  write(value, 0);
  return end();
}

std::string Pickler::end() {
  op('.');
  return std::move(out_);
}

bool Pickler::recall(const void* object) {
  auto found = memo_.find(object);
  if (found == memo_.end()) return false;
  op('j');
  put(found->second);
  return true;
}

void Pickler::remember(const void* object, const Value& value) {
  kept_.push_back(value);
  uint32_t index = uint32_t(memo_.size());
  memo_[object] = index;
  op('r');
  put(index);
}

void Pickler::integer(int64_t value) {
  if (value >= INT32_MIN && value <= INT32_MAX) {
    op('J');
    put(int32_t(value));
  } else {
    op('\x8a');
    op(8);
    put(value);
  }
}

void Pickler::real(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  op('G');
  put(__builtin_bswap64(bits));
}

void Pickler::text(std::string_view text) {
  HOTARU_CHECK_AS(ValueError, text.size() < UINT32_MAX,
                  "a string is too long to be saved");
  op('X');
  put(uint32_t(text.size()));
  out_ += text;
}

void Pickler::global(std::string_view module, std::string_view name) {
  out_ += concat("c", module, "\n", name, "\n");
}

void Pickler::sizes(IntSpan sizes) {
  op('(');
  for (int64_t size : sizes) integer(size);
  op('t');
}

void Pickler::list(const Value& value, int depth) {
  op(']');
  remember(&value.as_list(), value);
  op('(');
  for (const Value& item : value.as_list().items) write(item, depth + 1);
  op('e');
}

void Pickler::tuple(const std::vector<Value>& items, int depth) {
  op('(');
  for (const Value& item : items) write(item, depth + 1);
  op('t');
}

void Pickler::dict(const Value& dict, int depth) {
  op('}');
  remember(&dict.as_dict(), dict);
  op('(');
  for (const auto& [key, value] : dict.as_dict().items) {
    write(key, depth + 1);
    write(value, depth + 1);
  }
  op('u');
}

// _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks), or
// _rebuild_tensor_v3 with the dtype behind them.
void Pickler::tensor(const Tensor& tensor) {
  if (const SparseStorage* parts = sparse_storage(tensor))
    return sparse(tensor, *parts);
  size_t key = 0;
  while (key < storages_.size() &&
         !(storages_[key].storage == tensor.storage() &&
           storages_[key].dtype == tensor.dtype()))
    ++key;
  if (key == storages_.size())
    storages_.push_back({tensor.storage(), tensor.dtype()});
  const DType dtype = tensor.dtype();
  const bool typed =
      classes_ == StorageClasses::kOfEveryDType || !is_rare(dtype);
  global("torch._utils", typed ? "_rebuild_tensor_v2" : "_rebuild_tensor_v3");
  op('(');
  op('(');
  text("storage");
  if (typed)
    global("torch", concat(scalar_type_name(dtype), "Storage"));
  else
    global("torch.storage", "UntypedStorage");
  text(std::to_string(key));
  text(tensor.device().str());
  integer(int64_t(tensor.storage()->nbytes() / (typed ? itemsize(dtype) : 1)));
  op('t');
  op('Q');
  integer(tensor.storage_offset());
  sizes(tensor.sizes());
  sizes(tensor.strides());
  op(autograd::requires_grad(tensor) ? '\x88' : '\x89');
  global("collections", "OrderedDict");
  op(')');
  op('R');
  if (!typed) global("torch", dtype_name(dtype));
  op('t');
  op('R');
}

// _rebuild_sparse_tensor(layout, sizes, requires_grad, parts..., hooks), which
// TorchScript's reader knows of these two layouts.
void Pickler::sparse(const Tensor& tensor, const SparseStorage& storage) {
  const bool coo = storage.layout() == Layout::kSparseCoo;
  HOTARU_CHECK_AS(NotImplementedError,
                  coo || storage.layout() == Layout::kSparseCsr,
                  "a tensor of this sparse layout has no form in a file; save "
                  "it as sparse_coo or sparse_csr");
  global("torch._utils", "_rebuild_sparse_tensor");
  op('(');
  integer(int64_t(storage.layout()));
  sizes(tensor.sizes());
  op(autograd::requires_grad(tensor) ? '\x88' : '\x89');
  this->tensor(storage.parts().index);
  if (!coo) this->tensor(storage.parts().inner);
  this->tensor(storage.parts().values);
  global("collections", "OrderedDict");
  op(')');
  op('R');
  op('t');
  op('R');
}

void Pickler::write(const Value& value, int depth) {
  HOTARU_CHECK_AS(ValueError, depth <= kMaxDepth, "values nested more than ",
                  kMaxDepth, " levels deep cannot be saved");
  switch (value.tag()) {
    case Value::Tag::kNone:
      return op('N');
    case Value::Tag::kBool:
      return op(value.as_bool() ? '\x88' : '\x89');
    case Value::Tag::kInt:
      return integer(value.as_int());
    case Value::Tag::kDouble:
      return real(value.as_double());
    case Value::Tag::kString:
      return text(value.as_string());
    case Value::Tag::kComplex:
      global("builtins", "complex");
      real(value.as_complex().real());
      real(value.as_complex().imag());
      op('\x86');
      return op('R');
    case Value::Tag::kDevice:
      global("torch", "device");
      text(value.as_device().str());
      op('\x85');
      return op('R');
    case Value::Tag::kTensor:
      if (recall(value.tensor_ref().impl())) return;
      tensor(value.tensor_ref());
      return remember(value.tensor_ref().impl(), value);
    case Value::Tag::kList:
      if (recall(&value.as_list())) return;
      return list(value, depth);
    case Value::Tag::kTuple:
      return tuple(value.as_tuple().items, depth);
    case Value::Tag::kDict:
      if (recall(&value.as_dict())) return;
      return dict(value, depth);
    case Value::Tag::kInstance:
    case Value::Tag::kObject:
      break;
  }
  fail<TypeError>("values of type '", value.type_name(), "' cannot be saved");
}

}  // namespace hotaru::io
