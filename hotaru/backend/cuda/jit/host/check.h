// Kernels throw nothing.
#pragma once
