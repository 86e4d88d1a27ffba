// Which of a framework's frames tell what was asked of it. A call of one Python line goes through twenty
// frames of PyTorch; two or three of them decide: the operator that the line names, and a fallback that the
// operator took because it has no kernel for this case.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "reports/model/report.h"

namespace capgate::reports {

struct FrameworkOperator {
  std::string python;  // "torch.nn.functional.grouped_mm"; empty: not called from Python, or unknown
  std::vector<size_t> fallbacks;  // "at::native::_grouped_mm_fallback", innermost first
  std::vector<size_t> deciding;  // all frames to be kept, innermost first: fallbacks, the outermost operator,
                                 // the Python function or its binding
};

// `frames`: innermost first, from the call up to and without the user's own line.
FrameworkOperator framework_operator(std::span<const Frame> frames);

}  // namespace capgate::reports
