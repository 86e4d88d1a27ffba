// The kinds of a graph's nodes, as records keep them: CUgraphNodeType, which code that runs without CUDA
// cannot include.
#pragma once

#include <cstdint>

namespace capgate::trace {

enum NodeKind : uint32_t {
  kKernelNode = 0,
  kCopyNode = 1,
  kMemsetNode = 2,
  kHostNode = 3,
  kChildNode = 4,
  kEmptyNode = 5,
  kEventWaitNode = 6,
  kEventRecordNode = 7,
  kAllocNode = 10,
  kFreeNode = 11,
  kConditionalNode = 13
};

}  // namespace capgate::trace
