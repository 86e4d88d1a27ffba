// Names of CUDA's API. Takes nothing of the C++ run-time library, for the preloaded library's sake.
#pragma once

#include <cstddef>
#include <string_view>

namespace capgate {

// The name without the suffixes of its variants: `_v2`, `_v13020`, and `_ptsz` or `_ptds` for the stream that
// each thread has of its own.
constexpr std::string_view without_variant(std::string_view name) {
  constexpr std::size_t kSuffix = 5;
  for (;;) {
    std::size_t cut = name.size();
    while (cut > 0 && name[cut - 1] >= '0' && name[cut - 1] <= '9') --cut;
    if (cut < name.size() && cut >= 2 && name[cut - 1] == 'v' && name[cut - 2] == '_') {
      name = {name.data(), cut - 2};
      continue;
    }
    if (name.size() <= kSuffix) return name;
    const std::string_view tail(name.data() + name.size() - kSuffix, kSuffix);
    if (tail != "_ptsz" && tail != "_ptds") return name;
    name = {name.data(), name.size() - kSuffix};
  }
}
static_assert(without_variant("cudaMemcpyAsync_ptsz_v13020") == "cudaMemcpyAsync");
static_assert(without_variant("cuMemcpyDtoH_v2") == "cuMemcpyDtoH" && without_variant("_v2") == "");

}  // namespace capgate
