// Factorisations of large matrices by cuSOLVER, where it is.
//
// Nothing is done where cuSOLVER is not here or our own kernels are for such
// matrices: one block works on one matrix, so they are for many and for small
// ones. Functions that say so return false then, else they have queued the work
// on the launching stream.
#pragma once

#include "hotaru/backend/cuda/linalg/linalg.h"
#include "hotaru/runtime/accelerator.h"

namespace hotaru::cuda {

/// LU with pivots in p.a, or if p.lower Cholesky's factor, of which PanelStart
/// has been; info as params/linalg.h says.
bool lu_by_cusolver(int64_t batch, DType dtype, const PanelParams& p);
bool cholesky_by_cusolver(int64_t batch, DType dtype, const PanelParams& p);

/// Does what the launch's parameters say, as the kernels Qr, Geqrf and
/// Householder would.
bool qr_by_cusolver(const LinalgLaunch& l, DType dtype);
bool geqrf_by_cusolver(const LinalgLaunch& l, DType dtype);
bool householder_by_cusolver(const LinalgLaunch& l, DType dtype);

/// Does what the kernels Eigh, Svd and Eig would, all but the infos. The kernel
/// has to be launched next in any case: it does the matrices that the library
/// did not, or failed at, and says why. `said`: kept until then.
using LibraryInfo = std::optional<Workspace>;
void eigh_by_cusolver(LinalgLaunch& l, DType dtype, LibraryInfo& said);
void svd_by_cusolver(LinalgLaunch& l, DType dtype, LibraryInfo& said);
void eig_by_cusolver(LinalgLaunch& l, DType dtype, LibraryInfo& said);

DeviceLibrary cusolver_report();

}  // namespace hotaru::cuda
