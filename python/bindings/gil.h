// The interpreter's lock, for threads that may outlive the interpreter.
//
// A thread that asks for the lock of an interpreter that is ending is ended by
// pthread_exit() before Python 3.14; a destructor that its unwinding meets
// would abort the process. Here such a thread stays where it is for good, as it
// does from 3.14 on, and the process ends without it.
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>
#if defined(__GLIBCXX__)
#include <cxxabi.h>
#endif

#include "bindings/stable_abi.h"
#include "hotaru/runtime/threads/admission.h"

namespace hotaru::python {

[[noreturn]] inline void stay_for_good() {
  while (true) pause();
}

/// Runs f, which asks for the lock.
template <class F>
auto outlive(F&& f) {
#if defined(__GLIBCXX__)
  try {
    return f();
  } catch (const abi::__forced_unwind&) {
    stay_for_good();
  }
#else
  return f();
#endif
}

/// Lets go of the lock while it lives.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() {
    outlive([this] { PyEval_RestoreThread(state_); });
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

/// Holds the lock while it lives, and gives up the place of the call that it is
/// in (runtime/threads/admission.h). Python code that is called meanwhile and
/// loses it for good is unwound as far as here.
class GilAcquire {
 public:
  GilAcquire() : state_(outlive([] { return PyGILState_Ensure(); })) {}
  ~GilAcquire() {
    // Late in the end there is no state of this thread, which counts as held.
    if (!PyGILState_GetThisThreadState() || !holds_lock()) stay_for_good();
    PyGILState_Release(state_);
  }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  const AdmissionPause pause_;
  PyGILState_STATE state_;
};

}  // namespace hotaru::python
