// `dsv4 compare` of a model's step without golden data: against the reference, or against a dump.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/verify/verify_case.h"

namespace dsv4::cli {

struct CompareModelOptions {
  std::string model, dump, write_dump, device = "cpu";
  std::vector<int> prompt, positions;
};

// Shows the differences by `show`, which says whether they are small enough.
capgate::Result<bool> compare_model(const CompareModelOptions& options,
                                    const std::function<bool(const CaseReport&)>& show);

}  // namespace dsv4::cli
