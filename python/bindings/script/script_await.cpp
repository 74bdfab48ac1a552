#include "bindings/script/script_await.h"

#include <utility>

#include "bindings/autograd/held.h"
#include "bindings/gil.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/script/run/foreign.h"

namespace hotaru::python {
namespace {

/// A call that Python makes when it is asked for.
struct PythonAwait final : script::AwaitedCall {
  explicit PythonAwait(nb::object object) : held(std::move(object)) {}
  Value wait() override {
    const GilAcquire gil;
    return to_value(held.get().attr("_wait")().ptr());
  }
  Held held;
};

}  // namespace

bool await_to_value(PyObject* object, Value* out) {
  if (!PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)),
                              "_hotaru_await"))
    return false;
  *out = Value::from_object(make_ref<PythonAwait>(nb::borrow(object)));
  return true;
}

PyObject* await_to_python(const Value& value) {
  auto* call = dynamic_cast<script::AwaitedCall*>(value.as_object());
  if (!call) return nullptr;
  if (auto* made = dynamic_cast<PythonAwait*>(call))
    return nb::object(made->held.get()).release().ptr();
  const nb::object wait =
      nb::cpp_function([kept = Ref<script::AwaitedCall>(call)] {
        Value result;
        {
          const GilRelease release;
          result = kept->wait();
        }
        return nb::steal(to_python(result));
      });
  return nb::module_::import_("hotaru._awaits")
      .attr("_awaitable")(wait)
      .release()
      .ptr();
}

}  // namespace hotaru::python
