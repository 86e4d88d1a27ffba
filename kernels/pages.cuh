// The way to an entry (pages.h).
#pragma once

#include <cstdint>

#include "kernels/pages.h"

namespace dsv4::kernels {

// Entry w of `row`, counted in entries from the first page on.
__device__ inline std::int64_t entry_index(const Pages& pages, int row, int w) {
  const auto at = static_cast<unsigned>(w), size = static_cast<unsigned>(pages.per_page);
  const unsigned index = at / size;
  const int page =
      pages.table == nullptr ? row : pages.table[static_cast<std::int64_t>(row) * pages.stride + index];
  return static_cast<std::int64_t>(page) * pages.per_page + (at - index * size);
}

}  // namespace dsv4::kernels
