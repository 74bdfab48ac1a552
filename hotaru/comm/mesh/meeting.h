// How ranks that share a store come to be connected.
#pragma once

#include "hotaru/comm/mesh/mesh.h"
#include "hotaru/comm/store/store.h"

namespace hotaru::comm {

/// Connects all ranks with each other. Every rank of the world calls it, with a
/// part of the store that nothing else uses. This process listens meanwhile, at
/// the address by which it reaches the store (that of $GLOO_SOCKET_IFNAME if
/// that is set), and takes only those who know a secret that is in the store.
/// DistBackendError names the ranks that have not come in time.
Ref<Mesh> meet(Store& store, int rank, int size, Millis timeout);

}  // namespace hotaru::comm
