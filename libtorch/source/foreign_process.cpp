// Programs that run on PyTorch: a library that was built against this one
// registers its operators where nobody there looks.
#include <dlfcn.h>

namespace hotaru::libtorch {
namespace {

/// A function or object of the interpreter's, null outside of Python.
template <class T>
T* in_python(const char* name) {
  return reinterpret_cast<T*>(::dlsym(RTLD_DEFAULT, name));
}

/// Called with the interpreter's lock: raises, unless hotaru is there, too.
int refuse(void*) {
  using Object = void;
  const auto modules = in_python<Object*()>("PyImport_GetModuleDict");
  const auto find =
      in_python<Object*(Object*, const char*)>("PyDict_GetItemString");
  const auto raise = in_python<void(Object*, const char*)>("PyErr_SetString");
  const auto error = in_python<Object*>("PyExc_RuntimeError");
  if (!modules || !find || !raise || !error) return 0;
  if (find(modules(), "hotaru._C")) return 0;
  raise(*error,
        "a library that was loaded was built against hotaru, and PyTorch knows "
        "nothing of its operators: build it from its sources against PyTorch, "
        "or run the program with `python -m hotaru`");
  return -1;
}

/// Looked at when this library is loaded; Python raises at its next step.
[[maybe_unused]] const bool foreign = [] {
  void* theirs = ::dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (!theirs) return false;
  ::dlclose(theirs);
  if (const auto later =
          in_python<int(int (*)(void*), void*)>("Py_AddPendingCall"))
    later(&refuse, nullptr);
  return true;
}();

}  // namespace
}  // namespace hotaru::libtorch
