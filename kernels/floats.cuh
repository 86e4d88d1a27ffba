// Floats that are read and written in one go.
#pragma once

namespace dsv4::kernels {

// W of them; a vector of such is a multiple of W long and aligned to it.
template <int W>
struct alignas(W * sizeof(float)) Floats {
  float v[W];
};

}  // namespace dsv4::kernels
