#include "engine/cli/arguments/devices.h"

#include <CLI/CLI.hpp>
#include <vector>

namespace dsv4::cli {

void add_device_option(CLI::App& command, std::string& device) {
  std::vector<std::string> devices = {"cpu"};
#ifdef DSV4_CUDA
  devices.emplace_back("cuda");
#endif
  command.add_option("--device", device, "Where to run (default: cpu)")->check(CLI::IsMember(devices));
}

}  // namespace dsv4::cli
