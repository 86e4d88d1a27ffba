#include "detector/analysis/places.h"

#include <algorithm>

#include "reports/identity/function_key.h"
#include "reports/settings/frames.h"

namespace capgate::analysis {
namespace {

using reports::Frame;

bool starts_capital(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) && name.size() > prefix.size() && name[prefix.size()] >= 'A' &&
         name[prefix.size()] <= 'Z';
}

// The detector's and CUDA's own frames between the user's call and the recording of it, wrappers of CUDA's
// headers included.
bool is_plumbing(const Frame& frame) {
  const std::string_view module = frame.module, function = frame.function;
  for (const std::string_view name : {"libcapgate", "libcupti", "libcudart", "libcuda.so", "libnvidia"})
    if (module.starts_with(name)) return true;
  const bool cuda_name = starts_capital(function, "cuda") || starts_capital(function, "cu") ||
                         function.starts_with("__cuda") || function.starts_with("libcudart_static_");
  if (!cuda_name && function.find("cuda") == std::string_view::npos) return false;
  // Static cudart has no lines; cuda_runtime.h's templates have lines in CUDA's include folder.
  return frame.file.empty()
             ? cuda_name
             : frame.file.ends_with("/cuda_runtime.h") || frame.file.ends_with("/cuda_runtime_api.h");
}

// All instantiations of a template are one place.
std::string site_of(const Place& place) {
  const auto& at = place.location;
  if (!at.file.empty())
    return at.file + ':' + std::to_string(at.line) + ':' + reports::function_key(at.function);
  if (!place.known) return "?";
  std::string site;  // no line anywhere: the innermost frames tell two sites apart
  for (size_t i = 0; i < place.frames.size() && i < 4; ++i)
    site += place.frames[i].module + '!' + place.frames[i].function + '|';
  return site;
}

}  // namespace

const Place& Places::at(uint32_t native_stack, uint32_t python_stack, std::string_view label) {
  const auto [at, fresh] = known_.try_emplace({native_stack, python_stack, std::string(label)});
  if (fresh) at->second = make(native_stack, python_stack, label);
  return at->second;
}

Place Places::make(uint32_t native_stack, uint32_t python_stack, std::string_view label) const {
  Place place;
  std::vector<Frame> native, python;
  const auto collect = [&](const auto& stacks, uint32_t id, std::vector<Frame>& out) {
    const auto found = stacks.find(id);
    if (id == 0 || found == stacks.end()) return;
    for (const uint32_t frame : found->second) out.push_back(trace_.frames[frame]);
  };
  collect(process_.native_stacks, native_stack, native);
  collect(process_.python_stacks, python_stack, python);
  while (!native.empty() && native.front().module.starts_with("libcapgate")) native.erase(native.begin());
  place.known = !native.empty() || !python.empty();

  const auto caller = std::find_if_not(native.begin(), native.end(), is_plumbing);
  if (caller != native.end()) {
    place.caller_module = caller->module;
    place.user_called = reports::is_user_frame(*caller, settings_);
  } else if (!python.empty()) {
    place.user_called = reports::is_user_frame(python.front(), settings_);
  }
  // An address in no module is generated code: nobody's library.
  if (caller != native.end() && caller->module.empty() && caller->function.empty()) place.user_called = true;

  const auto split =
      python.empty() ? native.end() : std::find_if(native.begin(), native.end(), reports::is_interpreter);
  place.frames.assign(native.begin(), split);
  place.frames.insert(place.frames.end(), python.begin(), python.end());
  place.frames.insert(place.frames.end(), split, native.end());

  if (const auto picked = reports::pick_location(place.frames, settings_, label)) {
    place.location = picked->location;
    const Frame& frame = place.frames[picked->index];
    if (place.location.file.empty() && !frame.module.empty())
      place.location.function = frame.module + '!' + frame.function;
  }
  place.site = site_of(place);
  // How an interpreter runs Python is nobody's question; a program that embeds one keeps its own frames.
  const auto around = static_cast<std::ptrdiff_t>((split - native.begin()) + python.size());
  if (!python.empty())
    place.frames.erase(std::remove_if(place.frames.begin() + around, place.frames.end(),
                                      [&](const Frame& frame) {
                                        return !reports::is_user_frame(frame, settings_) ||
                                               (frame.file.empty() && frame.function.starts_with('+'));
                                      }),
                       place.frames.end());
  return place;
}

}  // namespace capgate::analysis
