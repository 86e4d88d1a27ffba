#include "engine/cli/graphs/gate_subject.h"

#include <capgate/capgate.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <fstream>

#include "engine/config/canonical_config.h"
#include "reports/gate/digests.h"
#include "reports/gate/gate.h"

namespace dsv4::cli {
namespace {

// As the audit names it: the kernel module's branch where that can be seen, else the driver's CUDA version.
std::string driver_branch() {
  std::ifstream module("/sys/module/nvidia/version");
  std::string version;
  if (module >> version) return capgate::gate::driver_branch(version);
  int cuda = 0;
  return cudaDriverGetVersion(&cuda) == cudaSuccess && cuda > 0 ? std::to_string(cuda / 1000) : "";
}

// Without a device nothing is compared, and decoding ends at its first CUDA call.
void add_machine(capgate::gate::Subject& self) {
  int device = 0, major = 0, minor = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess ||
      cudaGetDeviceCount(&self.devices) != cudaSuccess)
    return;
  self.sm = std::to_string(10 * major + minor);
  self.driver_branch = driver_branch();
}

}  // namespace

capgate::Result<void> ask_gate(const std::string& report, cuda::Mode mode, const ModelConfig& config,
                               const std::vector<int>& buckets) {
  if (report.empty())
    return capgate::Error{
        fmt::format("mode {} needs --gate, a report about this program", cuda::name_of(mode))};
  capgate::gate::Subject self;
  self.build_id = capgate::gate::self_build_id();
  self.source_digest = capgate::gate::self_source_digest();
  self.code_digest = capgate::gate::self_code_digest();
  self.config_digest = config_digest(config);
  self.mode = cuda::name_of(mode);
  self.buckets = cuda::capture_names(mode, config, buckets);
  capgate::gate::Demands demands;
  demands.make_report = mode == cuda::Mode::kFull
                            ? "scripts/gate with this build"
                            : fmt::format("scripts/gate --mode {} with this build", cuda::name_of(mode));
  auto answer = capgate::gate::check(report, self, demands);
  if (answer.open()) {
    add_machine(self);
    answer = capgate::gate::check(report, self, demands);
  }
  if (answer.open()) return {};
  return capgate::Error{answer.sentence};
}

void declare_subject(cuda::Mode mode, const ModelConfig& config) {
  capgate_subject("mode", cuda::name_of(mode));
  capgate_subject("config_digest", config_digest(config).c_str());
  capgate_subject("source_digest", capgate::gate::self_source_digest().c_str());
  capgate_subject("code_digest", capgate::gate::self_code_digest().c_str());
}

void print_identity() {
  fmt::print("this program    build {}, source digest {}, code digest {}\n", capgate::gate::self_build_id(),
             capgate::gate::self_source_digest(), capgate::gate::self_code_digest());
}

}  // namespace dsv4::cli
