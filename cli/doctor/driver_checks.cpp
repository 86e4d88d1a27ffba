#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "cli/audit/driver_probe.h"
#include "cli/doctor/asked_program.h"
#include "cli/doctor/machine_checks.h"

namespace capgate::cli {
namespace fs = std::filesystem;
namespace {

bool in_container() {
  std::error_code none;
  return fs::exists("/.dockerenv", none) || fs::exists("/run/.containerenv", none);
}

// "NVIDIA H200, driver 580.159.04; …": a line each of what nvidia-smi lists.
std::string gpus() {
  const auto listed =
      ask_program(Question{{"nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"}});
  if (!listed || listed->exit_code != 0) return "";
  std::string text = listed->out;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, "; ");
  return text;
}

}  // namespace

Check check_driver() {
  const DriverState state = probe_driver();
  const std::string detail = state.detail.empty() ? "" : " (" + state.detail + ")";
  switch (state.driver) {
    case Driver::works: {
      const std::string found = gpus();
      return {"driver", CheckState::there,
              found.empty() ? "the driver starts and finds a GPU" : "the driver starts and finds " + found,
              ""};
    }
    case Driver::missing:
      return {"driver", CheckState::missing,
              "there is no CUDA driver: libcuda.so.1 cannot be loaded" + detail,
              in_container() ? "docker run --gpus all IMAGE" : "apt-get install nvidia-driver libcuda1"};
    case Driver::no_gpu: {
      const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
      if (visible != nullptr)
        return {"driver", CheckState::missing,
                fmt::format("the driver finds no GPU{}, and CUDA_VISIBLE_DEVICES is \"{}\"", detail, visible),
                "unset CUDA_VISIBLE_DEVICES"};
      return {"driver", CheckState::missing, "the driver finds no GPU" + detail,
              in_container() ? "docker run --gpus all IMAGE" : "nvidia-smi"};
    }
    case Driver::broken:
      break;
  }
  return {"driver", CheckState::missing, "the driver does not start" + detail, "nvidia-smi"};
}

Check check_devices() {
  std::string denied;
  bool any = false;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/dev", none)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("nvidia") || !entry.is_character_file(none)) continue;
    if (name.starts_with("nvidia-caps") || name == "nvidia-modeset") continue;
    any = true;
    if (access(entry.path().c_str(), R_OK | W_OK) != 0) denied += (denied.empty() ? "" : ", ") + name;
  }
  if (!denied.empty())
    return {"permissions", CheckState::missing, "this user may not open these devices in /dev: " + denied,
            "usermod --append --groups video,render \"$USER\", then log in again"};
  if (!any) return {"permissions", CheckState::optional, "there is no device of a GPU in /dev", ""};
  return {"permissions", CheckState::there, "this user may open the devices of the GPUs", ""};
}

}  // namespace capgate::cli
