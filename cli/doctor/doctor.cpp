// capgate doctor: what an audit needs, what of it is here, and whether an audit finds a fault on this
// machine.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/exit_code.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "cli/doctor/machine_checks.h"
#include "cli/doctor/planted_fault.h"
#include "cli/doctor/self_test.h"
#include "cli/registered_commands.h"

namespace capgate::cli {
namespace {

constexpr const char* kSchema = "capgate-doctor/1";

struct DoctorOptions {
  bool json = false;
  bool no_self_test = false;
  std::string plant;
};

const char* word(CheckState state) {
  switch (state) {
    case CheckState::there:
      return "ok";
    case CheckState::optional:
      return "note";
    case CheckState::missing:
      break;
  }
  return "missing";
}

Checks all_checks(bool with_self_test) {
  Checks checks{check_driver(),       check_devices(), check_cupti(),   check_other_tools(), check_detector(),
                check_trace_folder(), check_python(),  check_toolkit(), check_lint()};
  if (!with_self_test) return checks;
  checks.push_back(checks.front().state == CheckState::there ? self_test() : self_test_left_out());
  return checks;
}

bool is_missing(const Check& check) {
  return check.state == CheckState::missing;
}

std::string last_line(const Checks& checks, bool tested) {
  std::string missing;
  for (const Check& check : checks)
    if (is_missing(check)) missing += (missing.empty() ? "" : ", ") + check.name;
  if (!missing.empty())
    return "An audit does not work here: see " + missing + ". Everything else of capgate does.";
  return tested ? "An audit works here." : "An audit should work here; no fault was planted to show it.";
}

void print(const Checks& checks, bool tested) {
  for (const Check& check : checks) {
    std::printf("%-13s %-8s %s\n", check.name.c_str(), word(check.state), printable(check.text).c_str());
    if (!check.command.empty()) std::printf("%-22s run: %s\n", "", printable(check.command).c_str());
  }
  std::printf("\n%s\n", last_line(checks, tested).c_str());
}

void print_json(const Checks& checks, bool works) {
  nlohmann::ordered_json out;
  out["schema"] = kSchema;
  out["capgate"] = CAPGATE_VERSION;
  out["works"] = works;
  out["checks"] = nlohmann::ordered_json::array();
  for (const Check& check : checks) {
    nlohmann::ordered_json entry;
    entry["name"] = check.name;
    entry["state"] = word(check.state);
    entry["text"] = check.text;
    entry["command"] = check.command;
    out["checks"].push_back(std::move(entry));
  }
  std::printf("%s\n", out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

int run(const DoctorOptions& options) {
  if (!options.plant.empty()) return run_planted(options.plant);
  const Checks checks = all_checks(!options.no_self_test);
  const bool works = std::none_of(checks.begin(), checks.end(), is_missing);
  if (options.json) {
    print_json(checks, works);
  } else {
    print(checks, !options.no_self_test);
  }
  return works ? kExitPass : kExitFail;
}

}  // namespace

void register_doctor(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DoctorOptions>();
  auto* command = app.add_subcommand(
      "doctor", "Say what this machine has, and whether an audit finds a planted fault here");
  command->add_flag("--json", options->json, "The same as JSON");
  command->add_flag("--no-self-test", options->no_self_test, "Plant no fault: only look");
  // The self-test's own program. An empty group keeps it out of --help.
  command->add_option("--plant", options->plant)
      ->group("")
      ->check(
          [](const std::string& given) {
            return given == "fault" || given == "clean" ? "" : "is fault or clean";
          },
          "");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace capgate::cli
