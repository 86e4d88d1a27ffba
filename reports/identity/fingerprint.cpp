#include "reports/identity/fingerprint.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>

#include "base/cuda_names.h"
#include "reports/digest/sha256.h"
#include "reports/identity/call_text.h"
#include "reports/identity/function_key.h"

namespace capgate::reports {
namespace {

constexpr size_t kGroupDigits = 8;

}  // namespace

std::string path_key(std::string_view file) {
  for (const std::string_view root : {"site-packages/", "dist-packages/"})
    if (const size_t at = file.rfind(root); at != std::string_view::npos)
      file.remove_prefix(at + root.size());
  while (file.substr(0, 2) == "./") file.remove_prefix(2);
  return std::string(file);
}

std::string callee_name(std::string_view function) {
  return std::string(without_variant(function));
}

std::string callee_key(const Violation& violation) {
  const auto callee = violation.details.find("callee");
  return callee_name(callee != violation.details.end() ? callee->second : violation.api.value_or(""));
}

void fill_ids(Report& report) {
  auto& all = report.violations;
  std::vector<std::string> keys;
  keys.reserve(all.size());
  for (const auto& violation : all)
    keys.push_back(violation.rule + '\0' + path_key(violation.location.file) + '\0' +
                   function_key(violation.location.function) + '\0' + callee_key(violation));

  // Only calls that are written alike are counted, so that a call between two others changes neither's id.
  // The ordinal follows the order in the file, whatever order the producer found things in.
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const auto place = [&](size_t i) {
      const auto& v = all[i];
      return std::tuple(std::string_view(keys[i]), v.location.line, v.location.column.value_or(0), v.phase,
                        std::string_view(v.message), v.capture, v.processes, i);
    };
    return place(a) < place(b);
  });
  std::map<std::string, int> ordinals;
  for (const size_t i : order) {
    const std::string call = keys[i] + '\0' + call_text(all[i]);
    all[i].id = sha256_hex(keys[i]).substr(0, kGroupDigits) +
                sha256_hex(call + '\0' + std::to_string(ordinals[call]++)).substr(0, kGroupDigits);
  }
}

std::string_view id_group(std::string_view id) {
  return id.substr(0, kGroupDigits);
}

}  // namespace capgate::reports
