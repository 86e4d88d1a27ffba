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
constexpr std::array<Renamed, 12> kRenamed{{{"getitem", "Tensor.__getitem__"},
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

// "torch/nn/functional.py", "grouped_mm" -> "torch.nn.functional.grouped_mm"
std::string dotted(const Frame& frame) {
  std::string module = path_key(frame.file);
  if (module.ends_with(".py")) module.resize(module.size() - 3);
  if (module.ends_with("/__init__")) module.resize(module.size() - 9);
  std::replace(module.begin(), module.end(), '/', '.');
  return module + "." + frame.function;
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
      found.python = dotted(frame);
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
