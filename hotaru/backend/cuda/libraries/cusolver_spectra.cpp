// Eigenvalues and singular values by cuSOLVER.
#include <algorithm>
#include <limits>

#include "hotaru/backend/cuda/clear.h"
#include "hotaru/backend/cuda/libraries/cusolver.h"
#include "hotaru/backend/cuda/libraries/cusolver_handle.h"
#include "hotaru/backend/cuda/libraries/turn.h"

namespace hotaru::cuda {
namespace {

using solver::check_solver;
using solver::Cusolver;
using solver::of_type;
using solver::real_type_of;
using solver::Room;
using solver::Session;
using solver::type_of;

constinit const Functions unpack_pairs("UnpackPairs");

/// Makes room for what the library will say; returns the place of the copy's
/// notes, which are 0.
int32_t* start(LinalgLaunch& l, LibraryInfo& said) {
  const auto bytes = size_t(l.attributes().batch) * sizeof(int32_t);
  said.emplace(2 * bytes);
  auto* const first = static_cast<int32_t*>(said->data());
  l.params.library_info = first;
  clear(first, 2 * bytes);
  return first + l.attributes().batch;
}
int32_t* info_of(const LibraryInfo& said, int64_t matrix) {
  return static_cast<int32_t*>(said->data()) + matrix;
}

/// The launch's workspace: our own kernel's later on.
Matrices workspace(const LinalgLaunch& l, int64_t row, int64_t byte = 0) {
  return {l.params.work + byte, row, l.params.work_bytes};
}

}  // namespace

void eigh_by_cusolver(LinalgLaunch& l, DType dtype, LibraryInfo& said) {
  const int64_t batch = l.attributes().batch, n = l.attributes().m;
  if (!solver::is_for_library(batch, n, n)) return;
  const Cusolver* const lib = usable<Cusolver>();
  if (!lib) return;
  const Matrices a = workspace(l, n);
  turn(dtype, batch, row_major(l.params.in[0], n, n, dtype), a, n, n,
       {.turned = false, .kept = Kept::kLower, .not_finite = start(l, said)});
  const int type = type_of(dtype), real = real_type_of(dtype);
  const int vectors = l.params.vectors ? solver::kVectors : solver::kNoVectors;
  const Matrices values = row_major(l.params.out[0], n, 1, to_real(dtype));
  {
    // By columns it is conj(A), of which the upper triangle is there.
    const Session s(*lib);
    Session::Needs needs;
    check_solver(lib->eigh_room(s.handle, s.params, vectors, solver::kUpper, n,
                                type, a.data, n, real, values.data, type,
                                &needs.device, &needs.host),
                 "cusolverDnXsyevd_bufferSize");
    Room room(needs);
    for (int64_t b = 0; b < batch; ++b)
      check_solver(lib->eigh(s.handle, s.params, vectors, solver::kUpper, n,
                             type, a.at(b), n, real, values.at(b), type,
                             room.data(), room.bytes, room.host.data(),
                             room.host.size(), info_of(said, b)),
                   "cusolverDnXsyevd");
  }
  if (vectors)
    turn(dtype, batch, a, row_major(l.params.out[1], n, n, dtype), n, n,
         {.conjugated = true});
}

// The library's Jacobi rotations, PyTorch's default, to PyTorch's tolerance.
// Unlike its QR iterations they take wide matrices. Where they fail PyTorch
// goes on to those, here our own kernel follows: the host need not wait to
// know.
void svd_by_cusolver(LinalgLaunch& l, DType dtype, LibraryInfo& said) {
  const LinalgAttributes& sizes = l.attributes();
  const int64_t batch = sizes.batch, m = sizes.m, n = sizes.n;
  if (!solver::is_for_library(batch, m, n)) return;
  const Cusolver* const lib = usable<Cusolver>();
  if (!lib) return;
  // A by rows is A^T = B by columns: B = X S Y^H, Vh = X^T and U = conj(Y).
  const Matrices b = workspace(l, n);
  Matrices y;
  if (l.params.vectors) y = workspace(l, m, m * n * int64_t(itemsize(dtype)));
  turn(dtype, batch, row_major(l.params.in[0], m, n, dtype), b, m, n,
       {.turned = false, .not_finite = start(l, said)});
  const int64_t k = l.params.k;
  const Matrices values =
      row_major(l.params.out[0], std::min(m, n), 1, to_real(dtype));
  const Matrices vh = row_major(l.params.out[2], l.params.l, n, dtype);
  const auto room_of = of_type(dtype, lib->ssvd_room, lib->dsvd_room,
                               lib->csvd_room, lib->zsvd_room);
  const auto run = of_type(dtype, lib->ssvd, lib->dsvd, lib->csvd, lib->zsvd);
  const int vectors = l.params.vectors ? solver::kVectors : solver::kNoVectors;
  const int thin = !(k == m && l.params.l == n);
  const int rows = int(n), columns = int(m);
  {
    const Session s(*lib);
    const bool single = to_real(dtype) == DType::kFloat32;
    check_solver(lib->set_tolerance(
                     s.jacobi, single ? std::numeric_limits<float>::epsilon()
                                      : std::numeric_limits<double>::epsilon()),
                 "cusolverDnXgesvdjSetTolerance");
    int count = 0;
    check_solver(
        room_of(s.handle, vectors, thin, rows, columns, b.data, rows,
                values.data, vh.data, rows, y.data, columns, &count, s.jacobi),
        "cusolverDn<t>gesvdj_bufferSize");
    const Workspace room(size_t(count) * itemsize(dtype));
    for (int64_t i = 0; i < batch; ++i)
      check_solver(run(s.handle, vectors, thin, rows, columns, b.at(i), rows,
                       values.at(i), vh.at(i), rows, y.at(i), columns,
                       room.data(), count, info_of(said, i), s.jacobi),
                   "cusolverDn<t>gesvdj");
  }
  if (vectors)
    turn(dtype, batch, y, row_major(l.params.out[1], m, k, dtype), m, k,
         {.conjugated = true});
}

void eig_by_cusolver(LinalgLaunch& l, DType dtype, LibraryInfo& said) {
  const int64_t batch = l.attributes().batch, n = l.attributes().m;
  if (!solver::is_for_library(batch, n, n)) return;
  const Cusolver* const lib = usable<Cusolver>();
  if (!lib || !lib->eig || !lib->eig_room) return;
  const int64_t bytes = n * n * int64_t(itemsize(dtype));
  const Matrices a = workspace(l, n);
  // Our own kernel's workspace has three matrices if vectors are asked for.
  Matrices vectors;
  if (l.params.vectors) vectors = workspace(l, n, bytes);
  turn(dtype, batch, row_major(l.params.in[0], n, n, dtype), a, n, n,
       {.not_finite = start(l, said)});
  const int type = type_of(dtype);
  const DType complex = to_complex(dtype);
  const Matrices values = row_major(l.params.out[0], n, 1, complex);
  const int right = l.params.vectors ? solver::kVectors : solver::kNoVectors;
  {
    const Session s(*lib);
    Session::Needs needs;
    check_solver(lib->eig_room(s.handle, s.params, solver::kNoVectors, right, n,
                               type, a.data, n, type_of(complex), values.data,
                               type, nullptr, n, type, vectors.data, n, type,
                               &needs.device, &needs.host),
                 "cusolverDnXgeev_bufferSize");
    Room room(needs);
    for (int64_t b = 0; b < batch; ++b)
      check_solver(
          lib->eig(s.handle, s.params, solver::kNoVectors, right, n, type,
                   a.at(b), n, type_of(complex), values.at(b), type, nullptr, n,
                   type, vectors.at(b), n, type, room.data(), room.bytes,
                   room.host.data(), room.host.size(), info_of(said, b)),
          "cusolverDnXgeev");
  }
  if (!right) return;
  if (is_complex(dtype)) {
    turn(dtype, batch, vectors, row_major(l.params.out[1], n, n, dtype), n, n);
    return;
  }
  PairsParams p;
  p.from = vectors.data;
  p.values = values.data;
  p.to = l.params.out[1];
  p.from_bytes = vectors.bytes;
  p.n = int32_t(n);
  const auto tiles = unsigned(ceil_divide(n, kTurnTile));
  launch(unpack_pairs.of(dtype), {unsigned(batch), tiles, tiles}, kBlock, p);
}

DeviceLibrary cusolver_report() {
  return report_of<Cusolver>();
}

}  // namespace hotaru::cuda
