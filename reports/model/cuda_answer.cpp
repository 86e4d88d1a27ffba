#include "reports/model/cuda_answer.h"

namespace capgate::reports {

bool was_refused(const Violation& violation) {
  return violation.result && !violation.result->empty() && *violation.result != "cudaSuccess" &&
         *violation.result != "CUDA_SUCCESS" && *violation.result != "0";
}

bool killed_a_capture(const Violation& violation) {
  if (const auto said = violation.details.find("consequence"); said != violation.details.end())
    return said->second.starts_with("killed ");
  // What CUDA refuses for another reason (an event of another device), the capture survives.
  return violation.phase == Phase::capture && was_refused(violation) &&
         (violation.result->find("Capture") != std::string::npos ||
          violation.result->find("CAPTURE") != std::string::npos);
}

}  // namespace capgate::reports
