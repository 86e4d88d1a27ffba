#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/model/fingerprint.h"
#include "reports/settings/frames.h"
#include "reports/terminal/parts.h"

namespace capgate::reports::terminal {
namespace {

constexpr size_t kIndent = 10;
constexpr size_t kFunctionColumns = 34;

std::string module_name(const Frame& frame) {
  const std::string& path = frame.module.empty() ? frame.file : frame.module;
  if (frame.module.empty() && frame.language == "python") {
    // The package: site-packages/torch/nn/functional.py is torch.
    const std::string key = path_key(path);
    const size_t slash = key.find('/');
    if (slash != std::string::npos && slash > 0) return key.substr(0, slash);
    return "Python";
  }
  return path.substr(path.rfind('/') + 1);
}

std::string shown_function(const Frame& frame) {
  std::string shown = function_key(frame.function);
  if (shown.empty()) shown = frame.function.empty() ? "??" : frame.function;
  return head_of(clean(shown));
}

std::string shown_place(const Frame& frame) {
  if (!frame.file.empty() && frame.line > 0)
    return tail_of(clean(frame.file)) + ":" + std::to_string(frame.line);
  return tail_of(clean(frame.file.empty() ? module_name(frame) : frame.file));
}

std::string line(std::string_view head, const std::string& function, const std::string& where, bool here,
                 const Paint& paint) {
  const size_t size = columns(function);
  const std::string gap(size < kFunctionColumns ? kFunctionColumns - size : 1, ' ');
  std::string out(head);
  out += here ? paint.bold(function) : function;
  out += gap + " ";
  out += here ? paint.bold(where) + "  <-" : paint.dim(where);
  return out + "\n";
}

// "9 frames in libtorch_cuda.so, libc10.so"
std::string folded(std::span<const Frame> frames) {
  std::vector<std::string> modules;
  for (const auto& frame : frames) {
    std::string module = tail_of(clean(module_name(frame)));
    if (!module.empty() && std::find(modules.begin(), modules.end(), module) == modules.end())
      modules.push_back(std::move(module));
  }
  std::string text = fmt::format("… {}", counted(frames.size(), "frame"));
  for (size_t i = 0; i < modules.size(); ++i) {
    if (i == 3) return text + ", …";
    text += (i == 0 ? " in " : ", ") + modules[i];
  }
  return text;
}

bool is_location(const Frame& frame, const Location& location) {
  return frame.line == location.line && frame.line > 0 && path_key(frame.file) == path_key(location.file);
}

std::string one_stack(const Stack& stack, const Violation& violation, const TerminalOptions& options) {
  const Paint paint(options.color);
  const std::string margin(kIndent, ' ');
  std::string head = "  " + (stack.role == "call" ? std::string("stack") : clean(stack.role));
  head.resize(std::max(kIndent, head.size() + 1), ' ');
  std::string out;
  bool marked = stack.role != "call";
  const auto take_head = [&] {
    std::string taken = out.empty() ? head : margin;
    return taken;
  };
  for (size_t i = 0; i < stack.frames.size();) {
    const Frame& frame = stack.frames[i];
    const bool here = !marked && is_location(frame, violation.location);
    size_t end = i;
    // The innermost frame is the call itself: it is always shown.
    if (!options.all && i > 0 && !here)
      while (end < stack.frames.size() && !is_user_frame(stack.frames[end], options.frames) &&
             !is_location(stack.frames[end], violation.location))
        ++end;
    if (end - i >= 2) {
      out += take_head() + paint.dim(folded(std::span(stack.frames).subspan(i, end - i))) + "\n";
      i = end;
      continue;
    }
    marked = marked || here;
    // A stripped driver has no name for it; the report has.
    const bool nameless = i == 0 && stack.role == "call" && violation.api && frame.function.starts_with('+');
    out += line(take_head(), nameless ? clean(*violation.api) : shown_function(frame), shown_place(frame),
                here, paint);
    ++i;
  }
  return out;
}

}  // namespace

std::string stacks(const Violation& violation, const TerminalOptions& options) {
  std::string out;
  for (const auto& stack : violation.stacks)
    if (!stack.frames.empty()) out += one_stack(stack, violation, options);
  return out;
}

}  // namespace capgate::reports::terminal
