// LU, Cholesky's factors and QR by cuSOLVER.
#include <algorithm>

#include "hotaru/backend/cuda/libraries/cusolver.h"
#include "hotaru/backend/cuda/libraries/cusolver_handle.h"
#include "hotaru/backend/cuda/libraries/turn.h"

namespace hotaru::cuda {
namespace {

using solver::check_solver;
using solver::Cusolver;
using solver::of_type;
using solver::Room;
using solver::Session;
using solver::type_of;

const Function narrow("Pivots");

/// The library, if it should compute these.
const Cusolver* chosen(int64_t batch, int64_t rows, int64_t columns) {
  return solver::is_for_library(batch, rows, columns) ? usable<Cusolver>()
                                                      : nullptr;
}

struct Sizes {
  int64_t batch, m, n, k;
};
Sizes sizes_of(const LinalgLaunch& l) {
  const LinalgAttributes& a = l.attributes();
  return {a.batch, a.m, a.n, a.k};
}

/// Q of k reflections in place, by columns [m, n].
void reflections(const Session& s, DType dtype, int64_t batch,
                 const Matrices& a, int64_t m, int64_t n, int64_t k,
                 const void* tau) {
  const Cusolver& lib = s.library;
  const auto room_of =
      of_type(dtype, lib.sq_room, lib.dq_room, lib.cq_room, lib.zq_room);
  const auto run = of_type(dtype, lib.sq, lib.dq, lib.cq, lib.zq);
  const int64_t item = int64_t(itemsize(dtype));
  int count = 0;
  check_solver(room_of(s.handle, int(m), int(n), int(k), a.data, int(a.row),
                       tau, &count),
               "cusolverDn<t>orgqr_bufferSize");
  const Workspace room(size_t(count) * size_t(item)), info(sizeof(int32_t));
  for (int64_t b = 0; b < batch; ++b)
    check_solver(run(s.handle, int(m), int(n), int(k), a.at(b), int(a.row),
                     static_cast<const char*>(tau) + b * k * item, room.data(),
                     count, static_cast<int32_t*>(info.data())),
                 "cusolverDn<t>orgqr");
}

/// R and the reflections in place, by columns [m, n], and tau.
void factor_qr(const Session& s, DType dtype, int64_t batch, const Matrices& a,
               int64_t m, int64_t n, void* tau) {
  const int type = type_of(dtype);
  Session::Needs needs;
  check_solver(s.library.qr_room(s.handle, s.params, m, n, type, a.data, a.row,
                                 type, tau, type, &needs.device, &needs.host),
               "cusolverDnXgeqrf_bufferSize");
  Room room(needs);
  const Workspace info(sizeof(int32_t));
  const int64_t bytes = std::min(m, n) * int64_t(itemsize(dtype));
  for (int64_t b = 0; b < batch; ++b)
    check_solver(
        s.library.qr(s.handle, s.params, m, n, type, a.at(b), a.row, type,
                     static_cast<char*>(tau) + b * bytes, type, room.data(),
                     room.bytes, room.host.data(), room.host.size(),
                     static_cast<int32_t*>(info.data())),
        "cusolverDnXgeqrf");
}

}  // namespace

bool lu_by_cusolver(int64_t batch, DType dtype, const PanelParams& p) {
  const Cusolver* const lib = p.pivot ? chosen(batch, p.m, p.n) : nullptr;
  if (!lib) return false;
  const int64_t k = std::min(p.m, p.n), m = p.m, n = p.n;
  const int64_t bytes = m * n * int64_t(itemsize(dtype));
  const Workspace columns(size_t(batch * bytes));
  const Workspace pivots(size_t(batch * k) * sizeof(int64_t));
  const Matrices a{columns.data(), m, bytes};
  turn(dtype, batch, row_major(p.from, m, n, dtype), a, n, m);
  auto* const exchanged = static_cast<int64_t*>(pivots.data());
  {
    const Session s(*lib);
    const int type = type_of(dtype);
    Session::Needs needs;
    check_solver(lib->lu_room(s.handle, s.params, m, n, type, a.data, m, type,
                              &needs.device, &needs.host),
                 "cusolverDnXgetrf_bufferSize");
    Room room(needs);
    for (int64_t b = 0; b < batch; ++b)
      check_solver(lib->lu(s.handle, s.params, m, n, type, a.at(b), m,
                           exchanged + b * k, type, room.data(), room.bytes,
                           room.host.data(), room.host.size(), p.info + b),
                   "cusolverDnXgetrf");
  }
  turn(dtype, batch, a, {p.a, n, p.a_bytes}, m, n);
  PivotsParams q;
  q.from = exchanged;
  q.to = reinterpret_cast<int32_t*>(p.pivots);
  q.to_bytes = p.pivot_bytes;
  q.count = int32_t(k);
  launch(narrow, {unsigned(batch)}, kBlock, q);
  return true;
}

bool cholesky_by_cusolver(int64_t batch, DType dtype, const PanelParams& p) {
  const Cusolver* const lib = chosen(batch, p.m, p.n);
  if (!lib) return false;
  // By columns it is conj(A), of which the upper triangle is there: U^H U =
  // conj(A), and U by columns is by rows U^T = L.
  const Session s(*lib);
  const int type = type_of(dtype);
  Session::Needs needs;
  check_solver(lib->cholesky_room(s.handle, s.params, solver::kUpper, p.m, type,
                                  p.a, p.m, type, &needs.device, &needs.host),
               "cusolverDnXpotrf_bufferSize");
  Room room(needs);
  for (int64_t b = 0; b < batch; ++b)
    check_solver(
        lib->cholesky(s.handle, s.params, solver::kUpper, p.m, type,
                      p.a + b * p.a_bytes, p.m, type, room.data(), room.bytes,
                      room.host.data(), room.host.size(), p.info + b),
        "cusolverDnXpotrf");
  return true;
}

bool qr_by_cusolver(const LinalgLaunch& l, DType dtype) {
  const auto [batch, m, n, k] = sizes_of(l);
  const Cusolver* const lib = chosen(batch, m, n);
  if (!lib) return false;
  const int64_t least = std::min(m, n), item = int64_t(itemsize(dtype));
  const int64_t bytes = m * std::max(n, k) * item;  // of A, then of Q
  const Workspace columns(size_t(batch * bytes));
  const Workspace tau(size_t(batch * least * item));
  const Matrices a{columns.data(), m, bytes};
  turn(dtype, batch, row_major(l.params.in[0], m, n, dtype), a, n, m);
  const Session s(*lib);
  factor_qr(s, dtype, batch, a, m, n, tau.data());
  turn(dtype, batch, a, row_major(l.params.out[1], k, n, dtype), k, n,
       {.kept = Kept::kUpper});
  reflections(s, dtype, batch, a, m, k, least, tau.data());
  turn(dtype, batch, a, row_major(l.params.out[0], m, k, dtype), m, k);
  return true;
}

bool geqrf_by_cusolver(const LinalgLaunch& l, DType dtype) {
  const auto [batch, m, n, k] = sizes_of(l);
  const Cusolver* const lib = chosen(batch, m, n);
  if (!lib) return false;
  const Workspace columns(size_t(batch * m * n) * itemsize(dtype));
  const Matrices a = row_major(columns.data(), n, m, dtype);
  turn(dtype, batch, row_major(l.params.in[0], m, n, dtype), a, n, m);
  const Session s(*lib);
  factor_qr(s, dtype, batch, a, m, n, l.params.out[1]);
  turn(dtype, batch, a, row_major(l.params.out[0], m, n, dtype), m, n);
  return true;
}

bool householder_by_cusolver(const LinalgLaunch& l, DType dtype) {
  const auto [batch, m, n, k] = sizes_of(l);
  const Cusolver* const lib = k > 0 ? chosen(batch, m, n) : nullptr;
  if (!lib) return false;
  const Workspace columns(size_t(batch * m * n) * itemsize(dtype));
  const Matrices a = row_major(columns.data(), n, m, dtype);
  turn(dtype, batch, row_major(l.params.in[0], m, n, dtype), a, n, m);
  const Session s(*lib);
  reflections(s, dtype, batch, a, m, n, k, l.params.in[1]);
  turn(dtype, batch, a, row_major(l.params.out[0], m, n, dtype), m, n);
  return true;
}

}  // namespace hotaru::cuda
