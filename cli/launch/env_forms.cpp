#include "cli/launch/env_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/shell_line.h"

namespace capgate::cli {
namespace {

constexpr const char* kNames[] = {"sh", "docker", "srun", "mpirun", "systemd", "json"};

// Where a variable's value goes into a list that has its own separators.
Result<void> plain(const std::string& form, const Variables& variables, const char* separators) {
  for (const auto& [name, value] : variables)
    if (value.find_first_of(separators) != std::string::npos)
      return Error{fmt::format(
          "--for {} cannot hold the value of {}, \"{}\"; use --for sh in the command that it starts", form,
          name, value)};
  return {};
}

std::string quoted(const std::string& word) {
  return shell_line({word});
}

}  // namespace

std::string check_form(const std::string& form) {
  const bool known =
      std::any_of(std::begin(kNames), std::end(kNames), [&](const char* name) { return form == name; });
  return known ? "" : fmt::format("is {}, not '{}'", kForms, form);
}

Result<std::string> in_form(const std::string& form, const Variables& variables,
                            const std::vector<std::string>& folders) {
  std::string text;
  if (form == "json") {
    nlohmann::ordered_json object;
    for (const auto& [name, value] : variables) object[name] = value;
    return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  if (form == "sh") {
    for (const auto& [name, value] : variables) text += "export " + name + "=" + quoted(value) + "\n";
    return text;
  }
  if (form == "systemd") {
    if (auto fits = plain(form, variables, "\n\"\\%"); !fits) return Error{fits.error()};
    for (const auto& [name, value] : variables) text += fmt::format("Environment=\"{}={}\"\n", name, value);
    return text;
  }
  // One line, for $(capgate env …): the shell splits it at spaces and takes no quotes off.
  if (auto fits = plain(form, variables, form == "srun" ? " \t\n," : " \t\n"); !fits)
    return Error{fits.error()};
  if (form == "docker") {
    for (const std::string& folder : folders) text += fmt::format("--volume {}:{} ", folder, folder);
    for (const auto& [name, value] : variables) text += fmt::format("--env {}={} ", name, value);
  } else if (form == "mpirun") {
    for (const auto& [name, value] : variables) text += fmt::format("-x {}={} ", name, value);
  } else {
    text = "--export=ALL";
    for (const auto& [name, value] : variables) text += fmt::format(",{}={}", name, value);
  }
  while (text.ends_with(' ')) text.pop_back();
  return text + "\n";
}

}  // namespace capgate::cli
