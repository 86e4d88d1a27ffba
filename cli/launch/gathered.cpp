#include "cli/launch/gathered.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/files/read_text.h"
#include "detector/analysis/analyze.h"
#include "detector/seal/seal.h"
#include "detector/seal/sealed_file.h"
#include "reports/digest/sha256.h"
#include "reports/files/report_file.h"
#include "reports/json/json.h"

namespace capgate::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kRaw = ".cgraw";
constexpr const char* kSealed = ".cgtrace";

std::vector<fs::path> listed(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

bool is_report(const fs::path& file) {
  const auto text = read_text(file.string());
  return text && text->find("\"capgate-report/") != std::string::npos;
}

reports::MergeInput input_of(reports::Report report, const std::string& name) {
  std::string digest = sha256_hex(reports::to_json(report));
  return {std::move(report), name, std::move(digest)};
}

Result<reports::Report> judged(const std::string& sealed) {
  const auto trace = seal::read_sealed(sealed);
  if (!trace) return Error{trace.error()};
  return analysis::analyze(*trace);
}

// Seals what the processes of one machine left, and judges the file, as an audit does.
Result<reports::Report> judged_folder(const fs::path& folder, const seal::Expectations& expected,
                                      const std::string& tool_version) {
  seal::SealInput input;
  input.trace_dir = folder.string();
  input.tool_version = tool_version;
  input.expected = expected;
  auto sealed = seal::seal(input);
  if (!sealed) return Error{sealed.error()};
  // Nobody saw the command; the processes know what they are.
  if (!sealed->processes.empty())
    sealed->run.argv = {std::string(sealed->processes.front().trace.fact("argv0"))};
  const std::string file = (folder / "trace.cgtrace").string();
  if (const auto written = seal::write_sealed(*sealed, file); !written) return Error{written.error()};
  return judged(file);
}

Result<void> gather_one(const fs::path& folder, const seal::Expectations& expected,
                        const std::string& version, std::vector<reports::MergeInput>& found) {
  const auto files = listed(folder);
  const bool raw =
      std::any_of(files.begin(), files.end(), [](const fs::path& file) { return file.extension() == kRaw; });
  if (raw) {
    auto report = judged_folder(folder, expected, version);
    if (!report) return Error{report.error()};
    found.push_back(input_of(std::move(*report), folder.string()));
  }
  for (const fs::path& file : files) {
    // The sealed trace of this folder's raw ones was judged above.
    if (file.extension() == kSealed && !raw) {
      auto report = judged(file.string());
      if (!report) return Error{report.error()};
      found.push_back(input_of(std::move(*report), file.string()));
    } else if (file.extension() == ".json" && is_report(file)) {
      auto read = reports::read_report(file.string());
      if (!read) return Error{read.error()};
      found.push_back({std::move(read->report), file.string(), std::move(read->digest)});
    }
  }
  return {};
}

}  // namespace

Result<std::vector<reports::MergeInput>> gather(const std::string& folder, const seal::Expectations& expected,
                                                const std::string& tool_version) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return Error{folder + " is not a folder"};
  std::vector<reports::MergeInput> found;
  std::vector<fs::path> folders{folder};
  for (const fs::path& entry : listed(folder))
    if (fs::is_directory(entry, error)) folders.push_back(entry);
  for (const fs::path& each : folders)
    if (auto done = gather_one(each, expected, tool_version, found); !done) return Error{done.error()};
  if (found.empty())
    return Error{fmt::format(
        "{} has no trace and no report: no process was started with what `capgate env {}` prints, "
        "or none of them used CUDA",
        folder, folder)};
  return found;
}

}  // namespace capgate::cli
