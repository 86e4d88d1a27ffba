// Whether the program has used NVTX, which is how most programs name their steps.
#pragma once

namespace capgate::preload {

bool nvtx_seen();

}  // namespace capgate::preload
