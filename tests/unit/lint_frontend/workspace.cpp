#include "workspace.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "static_checks/commands/files.h"

namespace capgate::lint::test {
namespace fs = std::filesystem;

// A name with a space: build folders have them.
Workspace::Workspace() : made_("capgate lint "), folder_(canonical_path(made_.string())) {}

std::string Workspace::write(const std::string& name, const std::string& text) const {
  made_.write(name, text);
  return path(name);
}

void Workspace::database(const std::vector<std::pair<std::string, std::string>>& file_and_command) const {
  std::string text = "[";
  for (const auto& [file, command] : file_and_command) {
    std::string escaped;
    for (const char c : command + " -c '" + path(file) + "'") {
      if (c == '"' || c == '\\') escaped += '\\';
      escaped += c;
    }
    text += (text.size() > 1 ? ",\n" : "\n");
    text +=
        R"({"directory": ")" + folder_ + R"(", "file": ")" + file + R"(", "command": ")" + escaped + "\"}";
  }
  write("compile_commands.json", text + "\n]\n");
}

LintSettings Workspace::settings() const {
  LintSettings settings;
  settings.build = folder_;
  settings.root = folder_;
  settings.worker = LINT_TEST_WORKER;
  settings.jobs = 1;
  settings.timeout_s = 120;
  return settings;
}

LintRun lint(const LintSettings& settings) {
  Result<LintRun> run = run_lint(settings);
  if (!run) {
    ADD_FAILURE() << run.error();
    return {};
  }
  return std::move(*run);
}

std::string all_reasons(const reports::Report& report) {
  std::string text;
  for (const reports::Reason& reason : report.reasons) text += reason.text + " => " + reason.remedy + "\n";
  return text;
}

bool has_reason(const reports::Report& report, const std::vector<std::string>& words) {
  for (const reports::Reason& reason : report.reasons) {
    bool all = true;
    for (const std::string& word : words) all = all && reason.text.find(word) != std::string::npos;
    if (all && !reason.remedy.empty()) return true;
  }
  return false;
}

}  // namespace capgate::lint::test
