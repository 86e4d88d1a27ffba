#include "reports/files/report_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/files/read_text.h"
#include "base/files/write_text.h"
#include "reports/digest/sha256.h"
#include "reports/json/json.h"
#include "reports/verdict/contradiction.h"

namespace capgate::reports {
namespace {

std::string source_name(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

// Whether the text is a report's, of whatever version.
bool is_report(const std::string& text) {
  const auto schema = schema_of(text);
  return schema && schema->starts_with("capgate-report/");
}

// A report whose parts say different things is nobody's verdict: what judges it anew would pass where it says
// fail.
Result<Report> agreeing(Result<Report> report, const std::string& path) {
  if (report)
    if (const auto against = contradiction(*report)) return Error{source_name(path) + ": " + *against};
  return report;
}

}  // namespace

Result<ReadReport> read_report(const std::string& path) {
  auto text = read_text(path);
  if (!text) return Error{text.error()};
  auto report = agreeing(from_json(*text, source_name(path)), path);
  if (!report) return Error{report.error()};
  return ReadReport{std::move(*report), sha256_hex(*text)};
}

Result<Report> read_report_alone(const std::string& path) {
  std::error_code ec;
  if (std::filesystem::is_regular_file(path, ec) && std::filesystem::file_size(path, ec) <= kLargestText &&
      !ec) {
    std::ifstream text(path, std::ios::binary);
    if (auto report = from_json(text)) return agreeing(std::move(*report), path);
  }
  const auto text = read_text(path);
  if (!text) return Error{text.error()};
  return agreeing(from_json(*text, source_name(path)), path);
}

Result<void> may_become_report(const std::string& path) {
  // An option that lost its value (`--out a.cu`) must not cost a source, a trace or a program.
  std::error_code ec;
  if (path == "-" || !std::filesystem::is_regular_file(path, ec)) return {};
  const Error refused{source_name(path) + ": is not a capgate report; refusing to overwrite it"};
  std::ifstream there(path, std::ios::binary);
  char first = 0;
  if (!(there >> first)) return {};  // empty
  if (first != '{') return refused;
  // As this program writes it; any other order of the keys takes reading all of it.
  std::string key, schema;
  if (there >> key >> schema && key == "\"schema\":" && schema.starts_with("\"capgate-report/")) return {};
  const auto text = read_text(path);
  return text && is_report(*text) ? Result<void>() : refused;
}

Result<void> spares(const std::string& out, const std::vector<std::string>& inputs) {
  const std::string written = out == "-" ? "/dev/stdout" : out;
  for (const auto& input : inputs) {
    std::error_code ec;
    if (input == "-" || !std::filesystem::is_regular_file(input, ec)) continue;
    if (!std::filesystem::equivalent(written, input, ec) || ec) continue;
    return Error{fmt::format("{}: is {}read here and would be lost; name another file",
                             out == "-" ? "standard output" : "--out " + out,
                             input == out ? "" : input + ", which is ")};
  }
  return {};
}

namespace {

Result<void> check_folder(const std::string& path) {
  std::error_code ec;
  const auto file = std::filesystem::absolute(path, ec);
  if (std::filesystem::is_directory(file, ec)) return Error{path + ": is a folder, not a file"};
  if (written_in_place(path))
    return ::access(path.c_str(), W_OK) == 0 ? Result<void>() : Error{path + ": " + std::strerror(errno)};
  const auto real = std::filesystem::canonical(file, ec);  // the report goes where a link leads
  const auto folder = (ec ? file : real).parent_path();
  if (!std::filesystem::is_directory(folder, ec))
    return Error{fmt::format("{}: there is no folder {}", path, folder.string())};
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return Error{fmt::format("{}: {}: {}", path, folder.string(), std::strerror(errno))};
  return {};
}

}  // namespace

Result<void> check_output(const std::string& out, const std::vector<std::string>& inputs) {
  if (auto spared = spares(out, inputs); !spared || out == "-") return spared;
  if (auto found = check_folder(out); !found) return Error{"--out " + found.error()};
  if (auto allowed = may_become_report(out); !allowed) return Error{"--out " + allowed.error()};
  return {};
}

Result<void> write_report(const Report& report, const std::string& path) {
  if (auto allowed = may_become_report(path); !allowed) return allowed;
  return write_text(to_json(report), path);
}

}  // namespace capgate::reports
