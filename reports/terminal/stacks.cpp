#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <vector>

#include "base/file_name.h"
#include "reports/identity/fingerprint.h"
#include "reports/identity/function_key.h"
#include "reports/model/names.h"
#include "reports/settings/frames.h"
#include "reports/settings/operators.h"
#include "reports/terminal/parts.h"

namespace capgate::reports::terminal {
namespace {

constexpr size_t kIndent = 10;
constexpr size_t kFunctionColumns = 34;

std::string module_name(const Frame& frame) {
  const std::string& path = frame.module.empty() ? frame.file : frame.module;
  if (frame.module.empty() && frame.language == FrameLanguage::python) {
    // The package: site-packages/torch/nn/functional.py is torch.
    const std::string key = path_key(path);
    const size_t slash = key.find('/');
    if (slash != std::string::npos && slash > 0) return key.substr(0, slash);
    return "Python";
  }
  return std::string(file_name(path));
}

std::string shown_function(const Frame& frame) {
  // Where in the function is in the report.
  std::string shown = function_key(frame.function.substr(0, frame.function.find("+0x")));
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

// No symbol and no line: it tells a reader nothing.
bool is_nameless(const Frame& frame) {
  return frame.file.empty() && (frame.function.empty() || frame.function.starts_with('+'));
}

bool same(const Frame& a, const Frame& b) {
  return a.line == b.line && a.function == b.function && a.file == b.file && a.module == b.module;
}

size_t common_outer_frames(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  size_t n = 0;
  while (n < a.size() && n < b.size() && same(a[a.size() - 1 - n], b[b.size() - 1 - n])) ++n;
  return n;
}

// A stack, line by line.
class StackLines {
 public:
  StackLines(const Stack& stack, const Violation& violation, const TerminalOptions& options)
      : stack_(stack), violation_(violation), options_(options), paint_(options.color) {
    head_ = "  " + (is_call() ? std::string("stack") : std::string(name(stack.role)));
    head_.resize(std::max(kIndent, head_.size() + 1), ' ');
    find_deciding();
  }

  // `end`: what is further out was printed before, for `where`.
  std::string print(size_t end, const std::string& where) {
    const size_t first = options_.all ? 0 : first_shown();
    if (first > 0 && needs_api(first)) add(clean(*violation_.api), shown_place(stack_.frames[0]), false);
    for (size_t i = std::min(first, end); i < end;) i = add_frames(i, end);
    if (end < stack_.frames.size()) {
      take_head();
      const std::string further = counted(stack_.frames.size() - end, "frame");
      out_ += paint_.dim(fmt::format("… {} further out, as above for {}", further, where)) + "\n";
    }
    return std::move(out_);
  }
  std::string same_as(const std::string& where) {
    take_head();
    return std::move(out_) + paint_.dim("as above, for " + where) + "\n";
  }

 private:
  bool is_call() const { return stack_.role == StackRole::call; }

  void take_head() { out_ += out_.empty() ? head_ : std::string(kIndent, ' '); }

  void add(const std::string& function, const std::string& where, bool here) {
    take_head();
    out_ += line("", function, where, here, paint_);
  }

  size_t first_shown() const {
    size_t first = 0;
    while (first < stack_.frames.size() && is_nameless(stack_.frames[first])) ++first;
    return first == stack_.frames.size() ? 0 : first;
  }

  // A stripped driver has no name for the call; the report has, and mostly the runtime's frame does.
  bool needs_api(size_t first) const {
    if (!is_call() || !violation_.api) return false;
    const std::string& shown = stack_.frames[first].function;
    return callee_name(shown.substr(0, shown.find('+'))) != callee_name(*violation_.api);
  }

  void find_deciding() {
    if (!is_call()) return;
    const auto at = std::find_if(stack_.frames.begin(), stack_.frames.end(),
                                 [&](const Frame& frame) { return is_location(frame, violation_.location); });
    if (at == stack_.frames.end()) return;
    const auto inner = static_cast<size_t>(at - stack_.frames.begin());
    for (const size_t i : framework_operator(std::span(stack_.frames).subspan(0, inner)).deciding)
      deciding_.insert(i);
  }

  bool is_folded(size_t i) const {
    return !is_user_frame(stack_.frames[i], options_.frames) &&
           !is_location(stack_.frames[i], violation_.location) && !deciding_.contains(i);
  }

  // The frame at `i`, or those that are folded from there on; what comes next.
  size_t add_frames(size_t i, size_t end) {
    const Frame& frame = stack_.frames[i];
    const bool here = !marked_ && is_call() && is_location(frame, violation_.location);
    size_t next = i;
    // The innermost frame is the call itself: it is always shown.
    if (!options_.all && !out_.empty() && !here)
      while (next < end && is_folded(next)) ++next;
    // A frame by itself takes no more room than its fold, unless its name is a template's.
    const bool generated = next == i + 1 && frame.function.find("wrap_kernel_functor") != std::string::npos;
    if (next - i >= 2 || generated) {
      take_head();
      out_ += paint_.dim(folded(std::span(stack_.frames).subspan(i, next - i))) + "\n";
      return next;
    }
    marked_ = marked_ || here;
    const bool unnamed = i == 0 && is_call() && violation_.api && is_nameless(frame);
    add(unnamed              ? clean(*violation_.api)
        : is_nameless(frame) ? "(no name)"
                             : shown_function(frame),
        shown_place(frame), here);
    return i + 1;
  }

  const Stack& stack_;
  const Violation& violation_;
  const TerminalOptions& options_;
  const Paint paint_;
  std::set<size_t> deciding_;
  std::string head_, out_;
  bool marked_ = false;
};

// The frames further out than the violation's own line.
size_t outside_of(const Stack& stack, const Violation& violation) {
  for (size_t i = 0; i < stack.frames.size(); ++i)
    if (is_location(stack.frames[i], violation.location)) return stack.frames.size() - i - 1;
  return stack.frames.size();
}

// Where a stack was printed: its line alone.
std::string spoken_of(const Violation& violation) {
  const Location& at = violation.location;
  if (at.file.empty()) return clean(violation.rule);
  return tail_of(clean(std::string(file_name(at.file))), 60) + ":" + std::to_string(at.line);
}

}  // namespace

std::string StacksPrinted::print(const Violation& violation, const TerminalOptions& options) {
  // Fewer are no gain over one line that refers to them.
  constexpr size_t kWorthReferring = 3;
  std::string out;
  for (const auto& stack : violation.stacks) {
    if (stack.frames.empty()) continue;
    StackLines lines(stack, violation, options);
    const std::pair<const Violation*, const Stack*>* nearest = nullptr;
    size_t shared = 0;
    if (!options.all)
      for (const auto& printed : printed_) {
        const size_t common = common_outer_frames(stack.frames, printed.second->frames);
        if (common > shared) shared = common, nearest = &printed;
      }
    // The fault's own line is printed with each.
    if (nearest && shared < stack.frames.size()) shared = std::min(shared, outside_of(stack, violation));
    if (nearest && shared == stack.frames.size()) {
      out += lines.same_as(spoken_of(*nearest->first));
    } else if (nearest && shared >= kWorthReferring) {
      out += lines.print(stack.frames.size() - shared, spoken_of(*nearest->first));
    } else {
      out += lines.print(stack.frames.size(), "");
    }
    if (printed_.size() == kRemembered) printed_.erase(printed_.begin());
    printed_.emplace_back(&violation, &stack);
  }
  return out;
}

std::string way_to_the_call(const Violation& violation) {
  std::string out;
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : " -> ") + part; };
  for (const auto& stack : violation.stacks) {
    if (stack.role != StackRole::call) continue;
    const auto at = std::find_if(stack.frames.begin(), stack.frames.end(),
                                 [&](const Frame& frame) { return is_location(frame, violation.location); });
    if (at == stack.frames.end()) break;
    const std::span inner(stack.frames.begin(), at);
    const FrameworkOperator asked = framework_operator(inner);
    if (!asked.python.empty()) add(clean(asked.python));
    if (asked.python.empty() && !asked.deciding.empty() && asked.fallbacks.empty())
      add(shown_function(inner[asked.deciding.back()]));
    for (size_t i = asked.fallbacks.size(); i-- > 0;) add(shown_function(inner[asked.fallbacks[i]]));
    break;
  }
  if (out.empty()) return "";
  if (violation.api) add(clean(*violation.api));
  return out;
}

}  // namespace capgate::reports::terminal
