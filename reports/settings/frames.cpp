#include "reports/settings/frames.h"

#include <algorithm>
#include <array>

#include "base/file_name.h"
#include "reports/identity/fingerprint.h"
#include "reports/identity/function_key.h"
#include "reports/settings/glob.h"

namespace capgate::reports {
namespace {

constexpr std::array<std::string_view, 103> kNotUser{
    // CUDA and its libraries, also those of the wheels
    "libcuda.so*", "libcudart*.so*", "libcublas*.so*", "libcudnn*.so*", "libcufft*.so*", "libcurand*.so*",
    "libcusolver*.so*", "libcusparse*.so*", "libnccl*.so*", "libnv*.so*", "libcupti*.so*", "libcapgate*.so*",
    "*/site-packages/nvidia/*", "*/dist-packages/nvidia/*", "*/site-packages/cuda/*",
    "*/dist-packages/cuda/*", "*/cuda/include/*", "*/cuda-*/include/*", "*/targets/*-linux/include/*",
    "*/nvidia/*/include/*",
    // libc, the loader, the compiler's own
    "libc.so*", "libc-*.so*", "libpthread*.so*", "libm.so*", "libdl.so*", "ld-linux*.so*", "libstdc++.so*",
    "libgcc_s.so*", "libgomp.so*", "linux-vdso.so*", "*/usr/include/*", "*/include/c++/*", "*/lib/gcc/*",
    "*/csu/*", "*/sysdeps/*", "_start", "__libc_start*", "__libc_csu*", "start_thread",
    // torch, Triton, NumPy, CuPy; CuPy's wheels name C++ by the folder that they were built in
    "libtorch*.so*", "libc10*.so*", "libtriton*.so*", "libcaffe2*.so*", "*/site-packages/torch/*",
    "*/dist-packages/torch/*", "torch/*", "*/site-packages/triton/*", "*/dist-packages/triton/*", "triton/*",
    "*/site-packages/numpy/*", "*/dist-packages/numpy/*", "numpy/*", "*/site-packages/torchgen/*",
    "*/site-packages/functorch/*", "*/site-packages/cupy/*", "*/dist-packages/cupy/*", "cupy/*",
    "*/cupy/cupy/*", "*/site-packages/cupy_backends/*", "*/dist-packages/cupy_backends/*",
    "*/cupy/cupy_backends/*", "cupy_backends/*",
    // JAX and XLA
    "libjax*.so*", "xla_*.so*", "pjrt_*.so*", "*/site-packages/jax/*", "*/dist-packages/jax/*", "jax/*",
    "*/site-packages/jaxlib/*", "*/dist-packages/jaxlib/*", "jaxlib/*", "*/site-packages/jax_plugins/*",
    "*/dist-packages/jax_plugins/*",
    // Python itself
    "libpython*.so*", "libffi*.so*", "_ctypes.*.so*", "*/lib/python3*/*.py", "*/lib-dynload/*", "<frozen *",
    "_PyEval_*", "Py_BytesMain", "*/Python/*.c", "*/Objects/*.c",
    // generated code
    "<string>", "<eval_with_key>*", "<torch_package*", "<unknown>", "<stdin-generated>*",
    "*/torchinductor_*/*", "*/.triton/cache/*", "*/tmpxft_*", "*.cudafe1.*", "__device_stub__*",
    "__wrapper__device_stub_*",
    // capgate's own Python files and headers
    "*/capgate_marks.py", "capgate_marks.py", "*/capgate_verify*.py", "capgate_verify*.py",
    "*/capgate_evidence.py", "capgate_evidence.py", "*/capgate/capgate.h", "*/capgate/verify*.h",
    "capgate::verify_*"};

// What of a frame a pattern is compared with.
enum class Compared { module, file, function };

constexpr Compared compared_with(std::string_view pattern) {
  const bool path = pattern.find('/') != std::string_view::npos;
  const bool library = pattern.find(".so") != std::string_view::npos || pattern.starts_with("lib");
  if (library && !path) return Compared::module;
  if (path || pattern.starts_with('<') || pattern.ends_with(".py") ||
      pattern.find(".cudafe1.") != std::string_view::npos)
    return Compared::file;
  return Compared::function;
}

constexpr auto kNotUserCompared = [] {
  std::array<Compared, kNotUser.size()> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = compared_with(kNotUser[i]);
  return all;
}();

bool matches(std::string_view pattern, Compared compared, const Frame& frame) {
  switch (compared) {
    case Compared::module:
      return glob_match(pattern, frame.module) || glob_match(pattern, file_name(frame.module));
    case Compared::file:
      return glob_match(pattern, frame.file) || glob_match(pattern, frame.module);
    case Compared::function:
      return glob_match(pattern, frame.function);
  }
  return false;
}

// A statically linked CUDA runtime stands in the user's own module: its functions have no line and CUDA's
// names.
bool is_static_cuda(const Frame& frame) {
  if (!frame.file.empty() || frame.language == FrameLanguage::python) return false;
  const std::string_view name = frame.function;
  const auto capital = [&](size_t at) { return name.size() > at && name[at] >= 'A' && name[at] <= 'Z'; };
  return (name.starts_with("cuda") && capital(4)) || (name.starts_with("cu") && capital(2)) ||
         name.starts_with("__cuda") || name.starts_with("libcudart_static_");
}

bool last_part_is(std::string_view function, std::string_view kernel) {
  const std::string key = function_key(function), name = function_key(kernel);
  if (name.empty() || key.empty()) return false;
  const auto last = [](std::string_view text) {
    const size_t colon = text.rfind("::");
    return colon == std::string_view::npos ? text : text.substr(colon + 2);
  };
  return last(key) == last(name);
}

bool is_launch_stub(std::span<const Frame> frames, size_t at, std::string_view kernel) {
  const Frame& frame = frames[at];
  if (frame.language == FrameLanguage::python) return false;
  if (!kernel.empty() && last_part_is(frame.function, kernel)) return true;
  if (at == 0) return false;
  const std::string_view inner = frames[at - 1].function;
  if (!inner.starts_with("__device_stub__") && !inner.starts_with("__wrapper__device_stub_")) return false;
  const std::string key = function_key(frame.function);
  const size_t colon = key.rfind("::");
  return inner.find(colon == std::string::npos ? key : key.substr(colon + 2)) != std::string_view::npos;
}

Location location_of(const Frame& frame) {
  Location location;
  location.file = frame.file;
  location.line = frame.line;
  location.function = frame.function;
  return location;
}

}  // namespace

bool is_interpreter(const Frame& frame) {
  const std::string_view module = file_name(frame.module);
  return module.starts_with("libpython") || module.starts_with("python3") || module == "python" ||
         frame.function.starts_with("_PyEval_");
}

bool in_package(std::string_view path) {
  return path.find("/site-packages/") != std::string_view::npos ||
         path.find("/dist-packages/") != std::string_view::npos;
}

std::span<const std::string_view> built_in_not_user() {
  return kNotUser;
}

bool is_user_frame(const Frame& frame, const FrameSettings& settings) {
  const auto listed = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](std::string_view pattern) {
      return matches(pattern, compared_with(pattern), frame);
    });
  };
  if (listed(settings.user)) return true;
  if (listed(settings.not_user)) return false;
  if (is_static_cuda(frame) || (frame.language != FrameLanguage::python && is_interpreter(frame)))
    return false;
  for (size_t i = 0; i < kNotUser.size(); ++i) {
    // The standard library lives beside the packages: what is a package's is judged by the package's own
    // pattern.
    if (kNotUser[i] == "*/lib/python3*/*.py" && in_package(frame.file)) continue;
    if (matches(kNotUser[i], kNotUserCompared[i], frame)) return false;
  }
  return true;
}

std::optional<PickedFrame> pick_location(std::span<const Frame> frames, const FrameSettings& settings,
                                         std::string_view kernel) {
  if (frames.empty()) return std::nullopt;
  const auto user = [&](size_t i) {
    return is_user_frame(frames[i], settings) && !is_launch_stub(frames, i, kernel);
  };
  const auto picked = [&](size_t i) { return PickedFrame{i, true, location_of(frames[i])}; };

  const bool has_python = std::any_of(frames.begin(), frames.end(), [](const Frame& frame) {
    return frame.language == FrameLanguage::python;
  });
  const bool has_interpreter = std::any_of(frames.begin(), frames.end(), [](const Frame& frame) {
    return frame.language != FrameLanguage::python && is_interpreter(frame);
  });
  // Natives beneath Python: up to the interpreter's innermost frame, or, when the stack does not show it, up
  // to the first Python frame that stands among them.
  bool beneath = true, seen_native = false;
  std::optional<size_t> outer_native;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].language == FrameLanguage::python) {
      if (!has_interpreter && seen_native) beneath = false;
      continue;
    }
    seen_native = true;
    if (has_python && is_interpreter(frames[i])) beneath = false;
    if (!user(i)) continue;
    if (beneath) return picked(i);
    if (!outer_native) outer_native = i;
  }
  for (size_t i = 0; i < frames.size(); ++i)
    if (frames[i].language == FrameLanguage::python && user(i)) return picked(i);
  if (outer_native) return picked(*outer_native);

  // Nothing is the user's: name the frame from which the libraries were entered, as far as it is known.
  for (size_t i = frames.size(); i-- > 0;)
    if (!frames[i].file.empty() && frames[i].line > 0) return PickedFrame{i, false, location_of(frames[i])};
  return PickedFrame{0, false, location_of(frames[0])};
}

std::optional<PickedFrame> pick_location(const std::vector<Stack>& stacks, const FrameSettings& settings,
                                         std::string_view kernel) {
  if (stacks.empty()) return std::nullopt;
  const auto call = std::find_if(stacks.begin(), stacks.end(),
                                 [](const Stack& stack) { return stack.role == StackRole::call; });
  return pick_location(call == stacks.end() ? stacks.front().frames : call->frames, settings, kernel);
}

std::string report_path(std::string_view file, std::string_view repository_root) {
  while (repository_root.size() > 1 && repository_root.ends_with('/')) repository_root.remove_suffix(1);
  const bool inside = repository_root.size() > 1 && file.starts_with(repository_root) &&
                      file.size() > repository_root.size() && file[repository_root.size()] == '/';
  if (in_package(file))
    return path_key(file);  // a virtual environment inside the repository is still a package
  if (inside) return std::string(file.substr(repository_root.size() + 1));
  return path_key(file);
}

}  // namespace capgate::reports
