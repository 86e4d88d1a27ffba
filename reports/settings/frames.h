// Whose code a frame is, and which frame of a stack a report names.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"
#include "reports/settings/settings.h"

namespace capgate::reports {

// CUDA, libc, torch, Triton, NumPy, CuPy, Python's standard library and generated code, as globs like those
// of the settings.
std::span<const std::string_view> built_in_not_user();

// The user's own: everything that no list excludes. transformers and vLLM are the user's.
bool is_user_frame(const Frame& frame, const FrameSettings& settings = {});

// Where Python runs a function: frames further in are beneath Python, frames further out are around it.
bool is_interpreter(const Frame& frame);

// The path is one of an installed Python package's: it holds site-packages or dist-packages.
bool in_package(std::string_view path);

struct PickedFrame {
  size_t index;  // into the frames given
  bool is_user;  // false: nothing in the stack is the user's, this is the innermost frame that says anything
  Location location;
};

// The innermost frame that is the user's. `frames` are innermost first; Python frames may stand at their
// place among the native ones or all before or behind them. A Python frame wins over framework natives
// beneath it, never over the user's own C++. `kernel`: the kernel that is launched here, whose host stub
// carries its name and is not the launch. Empty only when there are no frames.
std::optional<PickedFrame> pick_location(std::span<const Frame> frames, const FrameSettings& settings = {},
                                         std::string_view kernel = {});

// The same for the stack of role `call`, else the first.
std::optional<PickedFrame> pick_location(const std::vector<Stack>& stacks, const FrameSettings& settings = {},
                                         std::string_view kernel = {});

// A path as reports write it: relative to the repository, else to the package root (site-packages), else as
// it is.
std::string report_path(std::string_view file, std::string_view repository_root);

}  // namespace capgate::reports
