#include "tests/unit/preload/audited.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "detector/trace/module_place.h"
#include "tests/support/temporary_folder.h"

namespace capgate::test {
namespace {

namespace fs = std::filesystem;

std::string shell_word(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::string fresh_folder() {
  static std::deque<TemporaryFolder> folders;
  return folders.emplace_back("capgate-preload-").string();
}

size_t RecordedTrace::count_of_facts(const std::string& key) const {
  return static_cast<size_t>(std::count_if(process.meta.begin(), process.meta.end(),
                                           [&](const auto& fact) { return fact.first == key; }));
}

std::string RecordedTrace::place(uint64_t ip) const {
  return trace::module_place(process.modules, ip);
}

RecordedTrace read_recorded(const std::string& path) {
  auto file = trace::read_raw(path);
  if (!file) {
    ADD_FAILURE() << file.error();
    return {};
  }
  RecordedTrace trace{std::move(*file), {}};
  trace.process = trace::read_process(trace.file);
  return trace;
}

const RecordedTrace& Audited::only() const {
  static const RecordedTrace kNone;
  return traces.size() == 1 ? traces.front() : kNone;
}

Audited run_audited(const std::string& scenario, const Options& options) {
  const std::string folder = fresh_folder();
  std::map<std::string, std::string> env = {
      {"CAPGATE_TRACE_DIR", folder + "/traces"},
      {"CAPGATE_CUPTI_HINTS", FAKE_FOLDER},
      {"CAPGATE_REGIONS", "decode*"},
      {"LD_LIBRARY_PATH", FAKE_FOLDER},
      {"CUDA_INJECTION64_PATH", PRELOAD_LIBRARY},
      {"NVTX_INJECTION64_PATH", PRELOAD_LIBRARY},
      {"CAPGATE_PRELOAD", PRELOAD_LIBRARY},
  };
  if (options.preload) env["LD_PRELOAD"] = PRELOAD_LIBRARY;
  for (const auto& [name, value] : options.env) env[name] = value;
  fs::create_directory(folder + "/traces");
  std::string line = options.shell_prefix + " exec env";
  for (const auto& [name, value] : env) line += " " + shell_word(name + "=" + value);
  const std::vector<std::string> command =
      options.command.empty() ? std::vector<std::string>{FAKE_PROGRAM, scenario} : options.command;
  for (const auto& word : command) line += " " + shell_word(word);
  line += " >" + shell_word(folder + "/out") + " 2>" + shell_word(folder + "/err");
  Audited result;
  const int status = std::system(("bash -c " + shell_word(line)).c_str());
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  result.err = read_text(folder + "/err");
  for (const auto& entry : fs::directory_iterator(folder + "/traces"))
    result.files.push_back(entry.path().string());
  std::sort(result.files.begin(), result.files.end());
  for (const auto& file : result.files) result.traces.push_back(read_recorded(file));
  return result;
}

std::vector<trace::CallRecord> calls(const RecordedTrace& trace, const std::string& name) {
  std::vector<trace::CallRecord> out;
  for (const auto& [call, tid] : trace.process.calls)
    if (name.empty() || trace.process.text(call.name) == name) out.push_back(call);
  return out;
}

std::vector<std::string> interpreters() {
  std::vector<std::string> found = {"python3"};
  const char* root = std::getenv("PYENV_ROOT");
  const char* home = std::getenv("HOME");
  const fs::path versions = root != nullptr ? fs::path(root) / "versions"
                                            : fs::path(home != nullptr ? home : "") / ".pyenv/versions";
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(versions, none)) {
    const std::string name = entry.path().filename().string();
    const bool known = name.starts_with("3.") && std::atoi(name.c_str() + 2) >= 8;
    if (known && fs::exists(entry.path() / "bin/python3"))
      found.push_back((entry.path() / "bin/python3").string());
  }
  return found;
}

uint64_t counter(const RecordedTrace& trace, const std::string& name) {
  uint64_t total = 0;
  for (const auto& [counter, tid] : trace.process.counters)
    if (trace.process.text(counter.name) == name) total += counter.value;
  return total;
}

}  // namespace capgate::test
