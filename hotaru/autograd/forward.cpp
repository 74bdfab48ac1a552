#include "hotaru/autograd/forward.h"

#include <mutex>
#include <unordered_set>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/mutex.h"

namespace hotaru::autograd {
namespace {

/// The metas that have a tangent, so that closing the level can drop them.
/// A meta that goes takes itself out.
constinit Mutex duals_mutex;
std::unordered_set<Meta*>& duals() {
  static auto* all = new std::unordered_set<Meta*>;
  return *all;
}

bool has_own(const TensorImpl* t) {
  return t && t->autograd &&
         static_cast<const Meta&>(*t->autograd).tangent.defined();
}

}  // namespace

int64_t enter_dual_level() {
  HOTARU_CHECK(!detail::dual_level_open.exchange(true),
               "Nested forward mode AD is not supported at the moment");
  return 0;
}

void exit_dual_level(int64_t level) {
  HOTARU_CHECK(level == 0 && dual_level_open(),
               "Exiting a forward AD level that is not the last that was "
               "created is not support. Ensure they are released in the "
               "reverse order they were created.");
  detail::dual_level_open.store(false);
  forget_originals();
  Tensors gone;  // freed without the lock: tensors that go take it
  std::lock_guard lock(duals_mutex);
  for (Meta* m : duals()) gone.push_back(std::move(m->tangent));
  duals().clear();
}

bool passes_tangent(const Tensor& t) {
  return dual_level_open() && forward_enabled() && has_tangent(t);
}

bool has_tangent(const Tensor& t) {
  if (!t.defined()) return false;
  return has_own(t.impl()) || has_own(t.impl()->base.get());
}

void set_tangent(const Tensor& t, const Tensor& tangent) {
  Meta& m = ensure_meta(t);
  const Tensor before = m.tangent;  // goes after the lock
  std::lock_guard lock(duals_mutex);
  m.tangent = tangent;
  duals().insert(&m);
}

void forget_tangent(Meta& m) {
  const Tensor tangent = std::move(m.tangent);
  std::lock_guard lock(duals_mutex);
  duals().erase(&m);
}

}  // namespace hotaru::autograd
