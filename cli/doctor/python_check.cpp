#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/audit/program_file.h"
#include "cli/doctor/asked_program.h"
#include "cli/doctor/machine_checks.h"

namespace capgate::cli {
namespace fs = std::filesystem;
namespace {

// Versions of packages as they are installed: importing torch would take seconds, and start CUDA.
constexpr const char* kQuestion = R"(import json, sys
from importlib import metadata
found = {}
for name in ("torch", "nvidia-cuda-cupti", "nvidia-cuda-cupti-cu12", "triton", "jax", "cupy-cuda12x", "cupy-cuda13x", "vllm"):
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
print(json.dumps({"version": list(sys.version_info[:3]), "packages": found}))
)";
constexpr int kOldestMinor = 8, kNewestMinor = 13;  // whose lines the detector reads

}  // namespace

Check check_python() {
  const auto python = find_program("python3");
  if (!python)
    return {"python", CheckState::optional, "there is no python3; an audit of C++ does without", ""};
  const auto answer = ask_program(Question{{python->path, "-c", kQuestion}});
  const auto facts = answer ? nlohmann::json::parse(answer->out, nullptr, false) : nlohmann::json();
  if (!facts.is_object() || facts["version"].size() != 3)
    return {"python", CheckState::optional, python->path + " does not say which packages it has",
            python->path + " --version"};
  const int major = facts["version"][0], minor = facts["version"][1], patch = facts["version"][2];
  std::string text = fmt::format("{} is Python {}.{}.{}", python->path, major, minor, patch);
  for (const auto& [name, version] : facts["packages"].items())
    text += fmt::format(", {} {}", name, version.get<std::string>());
  if (!facts["packages"].contains("torch")) text += ", without torch";
  if (major == 3 && (minor < kOldestMinor || minor > kNewestMinor))
    return {"python", CheckState::optional,
            text + fmt::format(
                       "; lines are read from Python 3.{} to 3.{}, so that a report has native stacks alone",
                       kOldestMinor, kNewestMinor),
            ""};
  return {"python", CheckState::there, text, ""};
}

Check check_toolkit() {
  std::string place;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* value = std::getenv(variable); place.empty() && value != nullptr) place = value;
  const auto nvcc = find_program(place.empty() ? "nvcc" : place + "/bin/nvcc");
  std::error_code none;
  std::string program = nvcc ? nvcc->path : "";
  if (program.empty() && fs::exists("/usr/local/cuda/bin/nvcc", none)) program = "/usr/local/cuda/bin/nvcc";
  if (program.empty())
    return {"toolkit", CheckState::there,
            "there is no CUDA toolkit, and none is needed but for building programs", ""};
  const auto answer = ask_program(Question{{program, "--version"}});
  const std::string out = answer ? answer->out : "";
  const size_t at = out.find("release ");
  const std::string version =
      at == std::string::npos ? "of an unknown version" : out.substr(at + 8, out.find(',', at) - at - 8);
  return {"toolkit", CheckState::there, fmt::format("{} is CUDA {}", program, version), ""};
}

}  // namespace capgate::cli
