#include "reports/settings/operators.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "reports/identity/fingerprint.h"
#include "reports/identity/function_key.h"

namespace capgate::reports {
namespace {

constexpr std::string_view kBinding = "torch::autograd::THPVariable_";

bool names_fallback(std::string_view function) {
  return function.find("fallback") != std::string_view::npos ||
         function.find("Fallback") != std::string_view::npos;
}

bool is_operator(std::string_view function) {
  return (function.starts_with("at::_ops::") && function.ends_with("::call")) ||
         function.starts_with("at::native::") || function.starts_with("at::Tensor::");
}

// Names of Python's own for what a binding is called in PyTorch's sources.
struct Renamed {
  std::string_view binding, python;
};
constexpr std::array<Renamed, 22> kRenamed{
    {{"getitem", "Tensor.__getitem__"},
     {"numpy", "Tensor.numpy"},
     {"view", "Tensor.view"},
     {"expand", "Tensor.expand"},
     {"contiguous", "Tensor.contiguous"},
     {"type", "Tensor.type"},
     {"new_tensor", "Tensor.new_tensor"},
     {"linear", "torch.nn.functional.linear"},
     {"gelu", "torch.nn.functional.gelu"},
     {"one_hot", "torch.nn.functional.one_hot"},
     {"scaled_dot_product_attention", "torch.nn.functional.scaled_dot_product_attention"},
     {"setitem", "Tensor.__setitem__"},
     {"is_nonzero", "Tensor.__bool__"},
     {"length", "Tensor.__len__"},
     {"integral_scalar", "Tensor.__int__"},
     {"float_scalar", "Tensor.__float__"},
     {"index_scalar", "Tensor.__index__"},
     {"item", "Tensor.item"},
     {"tolist", "Tensor.tolist"},
     {"cpu", "Tensor.cpu"},
     {"cuda", "Tensor.cuda"},
     {"to", "Tensor.to"}}};

std::string python_name(std::string_view binding) {
  for (const auto& known : kRenamed)
    if (known.binding == binding) return std::string(known.python);
  // In place: there is a method of that name alone.
  const bool in_place = binding.ends_with('_') && !binding.ends_with("__");
  return (in_place ? "Tensor." : "torch.") + std::string(binding);
}

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Modules whose functions have these names in Python. A frame of another one may be a method, and a frame
// does not have the name of its class.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kModules{
    {{"torch/functional", "torch."},
     {"torch/nn/functional", "torch.nn.functional."},
     {"torch/cuda/__init__", "torch.cuda."},
     {"torch/cuda/memory", "torch.cuda."},
     {"torch/autograd/__init__", "torch.autograd."},
     {"torch/distributed/distributed_c10d", "torch.distributed."}}};

// Streams and events share names of methods: what they call tells them apart.
std::string_view class_in_streams(std::string_view method, std::span<const Frame> called) {
  static constexpr std::array<std::string_view, 3> kStream{"wait_event", "wait_stream", "record_event"};
  static constexpr std::array<std::string_view, 3> kEvent{"record", "wait", "elapsed_time"};
  if (is_one_of(method, kStream)) return "Stream";
  if (is_one_of(method, kEvent)) return "Event";
  for (const Frame& frame : called)
    for (const std::string_view kind : {"Event", "Stream"})
      if (frame.function.starts_with("THCP" + std::string(kind) + "_") ||
          frame.function.starts_with("cuda" + std::string(kind)) ||
          frame.function.starts_with("cu" + std::string(kind)))
        return kind;
  return "";
}

std::string name_in_graphs(const std::string& function) {
  static constexpr std::array<std::string_view, 6> kGraph{"capture_begin", "capture_end", "replay",
                                                          "reset",         "pool",        "debug_dump"};
  static constexpr std::array<std::string_view, 3> kBlock{"__init__", "__enter__", "__exit__"};
  static constexpr std::array<std::string_view, 2> kFunctions{"make_graphed_callables", "graph_pool_handle"};
  if (is_one_of(function, kGraph)) return "torch.cuda.CUDAGraph." + function;
  if (is_one_of(function, kFunctions)) return "torch.cuda." + function;
  return is_one_of(function, kBlock) ? "torch.cuda.graph" : "";
}

// What Python calls the function of one of torch's frames; empty where that is not certain.
std::string public_name(const Frame& frame, std::span<const Frame> called) {
  std::string module = path_key(frame.file);
  if (module.ends_with(".py")) module.resize(module.size() - 3);
  const std::string& function = frame.function;
  if (module.starts_with("torch/_dynamo/")) return "a compiled function (torch.compile)";
  if (module == "torch/cuda/graphs") return name_in_graphs(function);
  if (module == "torch/cuda/streams") {
    const std::string_view of = class_in_streams(function, called);
    return of.empty() ? "" : "torch.cuda." + std::string(of) + "." + function;
  }
  const bool special = function.starts_with("__") && function.ends_with("__");
  if (function.starts_with('<') || (function.starts_with('_') && !special)) return "";
  if (module == "torch/_tensor") return "Tensor." + function;
  for (const auto& [file, prefix] : kModules)
    if (module == file && !special) return std::string(prefix) + function;
  return "";
}

bool is_torch_python(const Frame& frame) {
  return frame.language == FrameLanguage::python && path_key(frame.file).starts_with("torch/");
}

}  // namespace

FrameworkOperator framework_operator(std::span<const Frame> frames) {
  FrameworkOperator found;
  std::optional<size_t> operation, asked;
  for (size_t i = 0; i < frames.size(); ++i) {
    const Frame& frame = frames[i];
    if (frame.language == FrameLanguage::python) {
      if (!is_torch_python(frame)) continue;
      asked = i;
      if (std::string name = public_name(frame, frames.first(i)); !name.empty())
        found.python = std::move(name);
      continue;
    }
    const std::string key = function_key(frame.function.substr(0, frame.function.find('+')));
    if (names_fallback(key)) found.fallbacks.push_back(i);
    if (is_operator(key)) operation = i;
    if (key.starts_with(kBinding) && found.python.empty()) {
      asked = i;
      found.python = python_name(std::string_view(key).substr(kBinding.size()));
    }
  }
  found.deciding = found.fallbacks;
  for (const auto& more : {operation, asked})
    if (more && std::find(found.deciding.begin(), found.deciding.end(), *more) == found.deciding.end())
      found.deciding.push_back(*more);
  std::sort(found.deciding.begin(), found.deciding.end());
  return found;
}

}  // namespace capgate::reports
