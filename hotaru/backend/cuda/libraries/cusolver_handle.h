// cuSOLVER opened, and what its functions are called with.
#pragma once

#include <mutex>
#include <vector>

#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/libraries/cusolver_entries.h"
#include "hotaru/backend/cuda/libraries/library.h"
#include "hotaru/core/dtype.h"

namespace hotaru::cuda::solver {

struct Cusolver {
  static constexpr const char* kName = "cuSOLVER";
  OpenedLibrary library =
      open_library({"libcusolver.so.12", "libcusolver.so.11"});
  int (*version)(int*) = nullptr;
#define HOTARU_MEMBER(name, symbol, params) int(*name) params = nullptr;
  HOTARU_CUSOLVER_ENTRIES(HOTARU_MEMBER)
  HOTARU_CUSOLVER_LATER_ENTRIES(HOTARU_MEMBER)  // null where it is too old
#undef HOTARU_MEMBER

  Cusolver();
  std::string version_text() const;
};

/// Throws Error that names the call, unless it went well.
void check_solver(int status, const char* what);

/// Types of a matrix, and of its singular values.
Type type_of(DType dtype);
Type real_type_of(DType dtype);

/// The function for a matrix's type, of four.
template <class F>
F of_type(DType dtype, F s, F d, F c, F z) {
  const Type type = type_of(dtype);
  return type == kR32F ? s : type == kR64F ? d : type == kC32F ? c : z;
}

/// Tells whether so many matrices of that size are the library's, if it is
/// here.
bool is_for_library(int64_t batch, int64_t rows, int64_t columns);

/// The launching stream's device's handle, of use to one thread at a time:
/// this object's.
class Session {
 public:
  explicit Session(const Cusolver& library);
  const Cusolver& library;
  Handle handle;
  Params params;
  Jacobi jacobi;

  /// Bytes on the device and the host that a function says it needs.
  struct Needs {
    size_t device = 0, host = 0;
  };

 private:
  std::unique_lock<std::mutex> lock_;
};

/// Room that functions compute in; the same for one matrix after another, as a
/// stream runs them one after another.
class Room {
 public:
  explicit Room(Session::Needs needs)
      : bytes(needs.device), host(needs.host), device_(needs.device) {}
  void* data() const { return device_.data(); }
  const size_t bytes;
  std::vector<char> host;

 private:
  Workspace device_;
};

}  // namespace hotaru::cuda::solver
