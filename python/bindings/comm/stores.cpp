#include "bindings/comm/stores.h"

#include <nanobind/stl/chrono.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/comm/program_store.h"
#include "bindings/gil.h"
#include "bindings/stable_abi.h"
#include "hotaru/comm/store/file_store.h"
#include "hotaru/comm/store/hash_store.h"
#include "hotaru/comm/store/prefix_store.h"
#include "hotaru/comm/store/tcp_store.h"
#include "hotaru/core/checks/check.h"

namespace nb = nanobind;

namespace hotaru::python {

namespace {

using comm::Keys;
using comm::Millis;

struct PyHashStore : PyStore {};
struct PyFileStore : PyStore {};
struct PyPrefixStore : PyStore {};
struct PyTcpStore : PyStore {
  bool libuv = true;  // as asked for: there is one server here
};

/// The object of a store's own class.
nb::object store_object(const Ref<comm::Store>& store) {
  if (dynamic_cast<comm::TcpStore*>(store.get()))
    return nb::cast(PyTcpStore{{store}});
  if (dynamic_cast<comm::PrefixStore*>(store.get()))
    return nb::cast(PyPrefixStore{{store}});
  if (dynamic_cast<comm::FileStore*>(store.get()))
    return nb::cast(PyFileStore{{store}});
  if (dynamic_cast<comm::HashStore*>(store.get()))
    return nb::cast(PyHashStore{{store}});
  return nb::cast(PyStore{store});
}

/// Store that prefixes stand before.
Ref<comm::Store> innermost(Ref<comm::Store> store) {
  while (auto* prefix = dynamic_cast<comm::PrefixStore*>(store.get()))
    store = prefix->underlying_store();
  return store;
}

/// A value: bytes, or text.
std::string value_of(nb::handle value) {
  if (PyBytes_Check(value.ptr()))
    return std::string(view_of_bytes(value.ptr()));
  std::string text;
  HOTARU_CHECK_AS(TypeError, nb::try_cast(value, text),
                  "a store's value is bytes or str, not ",
                  class_name(value.ptr()));
  return text;
}
std::vector<std::string> values_of(const nb::sequence& values) {
  std::vector<std::string> out;
  for (nb::handle value : values) out.push_back(value_of(value));
  return out;
}

/// f(store) without the interpreter's lock: most of it waits for others.
template <class F>
auto unlocked(const PyStore& self, const F& f) {
  const Ref<comm::Store> store = self.store;
  const GilRelease release;
  return f(*store);
}

/// Clone of the store's own class.
nb::object cloned(const PyStore& self) {
  return store_object(unlocked(self, [](comm::Store& s) { return s.clone(); }));
}

void init_base(nb::module_& m) {
  nb::class_<PyStore>(m, "Store", nb::is_weak_referenceable())
      .def("__init__",
           [](nb::handle_t<PyStore> self) {
             new (nb::inst_ptr<PyStore>(self))
                 PyStore{make_ref<ProgramStore>(self)};
             nb::inst_mark_ready(self);
           })
      .def(
          "set",
          [](const PyStore& self, const std::string& key, nb::handle value) {
            const std::string bytes = value_of(value);
            unlocked(self, [&](comm::Store& s) { s.set(key, bytes); });
          },
          nb::arg("key"), nb::arg("value"))
      .def(
          "get",
          [](const PyStore& self, const std::string& key) {
            return bytes_of(
                unlocked(self, [&](comm::Store& s) { return s.get(key); }));
          },
          nb::arg("key"))
      .def(
          "add",
          [](const PyStore& self, const std::string& key, int64_t amount) {
            return unlocked(self,
                            [&](comm::Store& s) { return s.add(key, amount); });
          },
          nb::arg("key"), nb::arg("amount"))
      .def(
          "compare_set",
          [](const PyStore& self, const std::string& key, nb::handle expected,
             nb::handle desired) {
            const std::string old = value_of(expected), now = value_of(desired);
            return bytes_of(unlocked(self, [&](comm::Store& s) {
              return s.compare_set(key, old, now);
            }));
          },
          nb::arg("key"), nb::arg("expected_value"), nb::arg("desired_value"))
      .def(
          "append",
          [](const PyStore& self, const std::string& key, nb::handle value) {
            const std::string bytes = value_of(value);
            unlocked(self, [&](comm::Store& s) { s.append(key, bytes); });
          },
          nb::arg("key"), nb::arg("value"))
      .def(
          "delete_key",
          [](const PyStore& self, const std::string& key) {
            return unlocked(self,
                            [&](comm::Store& s) { return s.delete_key(key); });
          },
          nb::arg("key"))
      .def("num_keys",
           [](const PyStore& self) {
             return unlocked(self, [](comm::Store& s) { return s.num_keys(); });
           })
      .def(
          "check",
          [](const PyStore& self, const Keys& keys) {
            return unlocked(self,
                            [&](comm::Store& s) { return s.check(keys); });
          },
          nb::arg("keys"))
      .def(
          "wait",
          [](const PyStore& self, const Keys& keys,
             std::optional<Millis> timeout) {
            unlocked(self, [&](comm::Store& s) {
              s.wait(keys, timeout.value_or(s.timeout()));
            });
          },
          nb::arg("keys"), nb::arg("timeout") = nb::none())
      .def(
          "multi_get",
          [](const PyStore& self, const Keys& keys) {
            nb::list out;
            for (const std::string& value : unlocked(
                     self, [&](comm::Store& s) { return s.multi_get(keys); }))
              out.append(bytes_of(value));
            return out;
          },
          nb::arg("keys"))
      .def(
          "multi_set",
          [](const PyStore& self, const Keys& keys,
             const nb::sequence& values) {
            const std::vector<std::string> given = values_of(values);
            unlocked(self, [&](comm::Store& s) { s.multi_set(keys, given); });
          },
          nb::arg("keys"), nb::arg("values"))
      .def(
          "queue_push",
          [](const PyStore& self, const std::string& key, nb::handle value) {
            const std::string bytes = value_of(value);
            unlocked(self, [&](comm::Store& s) { s.queue_push(key, bytes); });
          },
          nb::arg("key"), nb::arg("value"))
      .def(
          "queue_pop",
          [](const PyStore& self, const std::string& key, bool block) {
            return bytes_of(unlocked(
                self, [&](comm::Store& s) { return s.queue_pop(key, block); }));
          },
          nb::arg("key"), nb::arg("block") = true)
      .def(
          "queue_len",
          [](const PyStore& self, const std::string& key) {
            return unlocked(self,
                            [&](comm::Store& s) { return s.queue_len(key); });
          },
          nb::arg("key"))
      .def("list_keys",
           [](const PyStore& self) {
             return unlocked(self,
                             [](comm::Store& s) { return s.list_keys(); });
           })
      .def(
          "barrier",
          [](const PyStore& self, const std::string& key, int64_t world_size,
             std::optional<Millis> timeout) {
            unlocked(self, [&](comm::Store& s) {
              s.barrier(key, world_size, timeout.value_or(s.timeout()));
            });
          },
          nb::arg("key"), nb::arg("world_size"),
          nb::arg("timeout") = nb::none())
      .def("has_extended_api",
           [](const PyStore& self) {
             const Ref<comm::Store> below = innermost(self.store);
             const auto* own = dynamic_cast<ProgramStore*>(below.get());
             return !own || own->has_extended_api();
           })
      .def(
          "__eq__",
          [](const PyStore& self, const PyStore& other) {
            return self.store == other.store;
          },
          nb::is_operator())
      .def("__hash__",
           [](const PyStore& self) {
             return reinterpret_cast<intptr_t>(self.store.get());
           })
      .def("clone", &cloned)
      .def(
          "set_timeout",
          [](const PyStore& self, Millis timeout) {
            self.store->set_timeout(timeout);
          },
          nb::arg("timeout"))
      .def_prop_ro("timeout",
                   [](const PyStore& self) { return self.store->timeout(); });
}

comm::TcpStoreOptions tcp_options(const std::string& host, int port,
                                  std::optional<int> world_size, bool is_master,
                                  Millis timeout, bool wait_for_workers,
                                  bool multi_tenant,
                                  std::optional<int> master_listen_fd) {
  HOTARU_CHECK_AS(ValueError, 0 <= port && port <= 65535, "TCPStore: port ",
                  port, " is not from 0 to 65535");
  HOTARU_CHECK_AS(ValueError, world_size != 0,
                  "TCPStore world size cannot be 0");
  if (world_size && *world_size < 0) world_size.reset();
  return {.host = host,
          .port = uint16_t(port),
          .world_size = world_size,
          .is_master = is_master,
          .wait_for_workers = wait_for_workers,
          .multi_tenant = multi_tenant,
          .timeout = timeout,
          .listener = master_listen_fd.value_or(-1)};
}

}  // namespace

void init_stores(nb::module_& m) {
  init_base(m);
  nb::class_<PyHashStore, PyStore>(m, "HashStore")
      .def("__init__", [](PyHashStore* self) {
        new (self) PyHashStore{{make_ref<comm::HashStore>()}};
      });
  nb::class_<PyFileStore, PyStore>(m, "FileStore")
      .def(
          "__init__",
          [](PyFileStore* self, const std::string& path, int world_size) {
            new (self)
                PyFileStore{{make_ref<comm::FileStore>(path, world_size)}};
          },
          nb::arg("file_name"), nb::arg("world_size") = -1)
      .def_prop_ro("path", [](const PyFileStore& self) {
        return static_cast<comm::FileStore&>(*self.store).path();
      });
  nb::class_<PyPrefixStore, PyStore>(m, "PrefixStore")
      .def(
          "__init__",
          [](PyPrefixStore* self, const std::string& prefix,
             const PyStore* store) {
            HOTARU_CHECK_AS(ValueError, store,
                            "PrefixStore: a store is wanted, not None");
            new (self) PyPrefixStore{
                {make_ref<comm::PrefixStore>(prefix, store->store)}};
          },
          nb::arg("prefix"), nb::arg("store").none(), nb::keep_alive<1, 3>())
      .def_prop_ro(
          "underlying_store",
          [](const PyPrefixStore& self) {
            return store_object(static_cast<comm::PrefixStore&>(*self.store)
                                    .underlying_store());
          })
      .def_prop_ro("_underlying_non_prefix_store", [](const PyStore& self) {
        return store_object(innermost(self.store));
      });
  nb::class_<PyTcpStore, PyStore>(m, "TCPStore")
      .def("clone",
           [](const PyTcpStore& self) {
             return PyTcpStore{
                 {unlocked(self, [](comm::Store& s) { return s.clone(); })},
                 self.libuv};
           })
      .def(
          "__init__",
          [](PyTcpStore* self, const std::string& host, int port,
             std::optional<int> world_size, bool is_master, Millis timeout,
             bool wait_for_workers, bool multi_tenant,
             std::optional<int> master_listen_fd, bool use_libuv) {
            comm::TcpStoreOptions options =
                tcp_options(host, port, world_size, is_master, timeout,
                            wait_for_workers, multi_tenant, master_listen_fd);
            Ref<comm::Store> store;
            {
              const GilRelease release;
              store = make_ref<comm::TcpStore>(std::move(options));
            }
            new (self) PyTcpStore{{std::move(store)}, use_libuv};
          },
          nb::arg("host_name"), nb::arg("port"),
          nb::arg("world_size") = nb::none(), nb::arg("is_master") = false,
          nb::arg("timeout") = nb::cast(comm::kStoreTimeout),
          nb::arg("wait_for_workers") = true, nb::arg("multi_tenant") = false,
          nb::arg("master_listen_fd") = nb::none(), nb::arg("use_libuv") = true)
      .def_prop_ro("libuvBackend",
                   [](const PyTcpStore& self) { return self.libuv; })
      .def("__repr__",
           [](const PyTcpStore& self) {
             const auto& store = static_cast<comm::TcpStore&>(*self.store);
             return concat("TCPStore(client=TCPClient(remote=", store.host(),
                           ":", store.port(), "), server=",
                           store.serves()
                               ? concat("TCPServer(port=", store.port(), ")")
                               : std::string("<nullptr>"),
                           ")");
           })
      .def_prop_ro("host",
                   [](const PyTcpStore& self) {
                     return static_cast<comm::TcpStore&>(*self.store).host();
                   })
      .def_prop_ro("port", [](const PyTcpStore& self) {
        return static_cast<comm::TcpStore&>(*self.store).port();
      });
}

}  // namespace hotaru::python
