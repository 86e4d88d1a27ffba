#include "cli/audit/environment.h"

#include <string_view>

#include "base/file_name.h"
#include "cli/audit/preload_library.h"

namespace capgate::cli {
namespace {

class Environment {
 public:
  explicit Environment(const std::vector<std::string>& inherited) : entries_(inherited) {}

  std::string get(std::string_view name) const {
    for (const std::string& entry : entries_) {
      if (names(entry, name)) return entry.substr(name.size() + 1);
    }
    return "";
  }

  void unset(std::string_view name) {
    std::erase_if(entries_, [&](const std::string& entry) { return names(entry, name); });
  }

  // An empty value removes the variable.
  void set(std::string_view name, const std::string& value) {
    unset(name);
    if (!value.empty()) entries_.push_back(std::string(name) + "=" + value);
  }

  std::vector<std::string> take() { return std::move(entries_); }

 private:
  static bool names(const std::string& entry, std::string_view name) {
    return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
  }

  std::vector<std::string> entries_;
};

std::string joined(const std::vector<std::string>& parts, char separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

// Also that of another capgate, around this one or of another version: two of them would fight for CUPTI and
// write into one folder.
bool is_detector(std::string_view path) {
  const std::string_view file = file_name(path);
  return file == kPreloadFile || file == kWatchHostFile;
}

// The loader takes spaces and colons alike as separators. Of nested audits the innermost watches.
std::string preload_list(const std::string& library, const std::string& inherited) {
  std::string list = library;
  for (size_t begin = 0; begin < inherited.size();) {
    size_t end = inherited.find_first_of(" :", begin);
    if (end == std::string::npos) end = inherited.size();
    const std::string entry = inherited.substr(begin, end - begin);
    if (!entry.empty() && !is_detector(entry)) list += ":" + entry;
    begin = end + 1;
  }
  return list;
}

}  // namespace

std::vector<std::string> audited_environment(const std::vector<std::string>& inherited,
                                             const DetectorSettings& settings) {
  Environment environment(inherited);
  const auto chain = [&](std::string_view variable, std::string_view next) {
    const std::string before = environment.get(variable);
    if (!is_detector(before)) environment.set(next, before);
    environment.set(variable, settings.library);
  };
  const std::string libraries =
      settings.library + (settings.watch_host.empty() ? "" : ":" + settings.watch_host);
  environment.set("LD_PRELOAD", preload_list(libraries, environment.get("LD_PRELOAD")));
  chain("CUDA_INJECTION64_PATH", "CAPGATE_NEXT_INJECTION");
  chain("NVTX_INJECTION64_PATH", "CAPGATE_NEXT_NVTX_INJECTION");
  environment.set("CAPGATE_PRELOAD", settings.library);
  environment.set("CAPGATE_TRACE_DIR", settings.trace_folder);
  environment.set("CAPGATE_REGIONS", joined(settings.region_globs, '\n'));
  environment.set("CAPGATE_REGION_FN", joined(settings.region_functions, '\n'));
  if (!settings.region_functions.empty()) {
    const std::string before = environment.get("PYTHONPATH");
    environment.set("PYTHONPATH", settings.python_folder + (before.empty() ? "" : ":" + before));
  }
  environment.set("CAPGATE_UNTIL", settings.until);
  environment.set("CAPGATE_DEATHS", settings.deaths);
  environment.set("CAPGATE_CUPTI_HINTS", joined(settings.cupti_hints, ':'));
  return environment.take();
}

}  // namespace capgate::cli
