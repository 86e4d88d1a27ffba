#include "cli/audit/why_no_trace.h"

#include <fmt/format.h>

#include <string_view>

namespace capgate::cli {

reports::Reason why_no_trace(const ProgramFile& program, const DriverState& driver,
                             const std::string& command) {
  const std::string detail = driver.detail.empty() ? "" : " (" + driver.detail + ")";
  switch (driver.driver) {
    case Driver::missing:
      return {"no CUDA driver: libcuda.so.1 cannot be loaded" + detail,
              "on a machine where `nvidia-smi` lists a GPU: " + command};
    case Driver::no_gpu:
      return {"the CUDA driver finds no GPU" + detail,
              "where `nvidia-smi` lists a GPU and CUDA_VISIBLE_DEVICES does not hide it: " + command};
    case Driver::broken:
      return {"the CUDA driver does not start" + detail, "once `nvidia-smi` works: " + command};
    case Driver::works:
      break;
  }
  if (program.is_static) {
    return {fmt::format("{} is statically linked, so the detector cannot be loaded into it", program.path),
            "link it dynamically, then: " + command};
  }
  if (program.is_privileged) {
    return {
        fmt::format("{} is set-uid, set-gid or has file capabilities, so the loader keeps the detector out",
                    program.path),
        "as the user that it becomes, on a copy without those bits: " + command};
  }
  return {"no process of this run used CUDA",
          "with a program that runs a decode step on the GPU: capgate audit -- PROGRAM"};
}

}  // namespace capgate::cli
