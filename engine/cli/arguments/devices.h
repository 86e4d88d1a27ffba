// Where a command can run in this build.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace dsv4::cli {

// --device cpu, or cuda in a build that has it.
void add_device_option(CLI::App& command, std::string& device);

}  // namespace dsv4::cli
