#include "reports/model/report_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "reports/digest/sha256.h"
#include "reports/model/json.h"
#include "reports/model/verdict.h"

namespace capgate::reports {
namespace {

Error errno_error(const std::string& path, const char* what) {
  return Error{fmt::format("{}: {}: {}", path, what, std::strerror(errno))};
}

std::string source_name(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(fd, text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    text.remove_prefix(static_cast<size_t>(done));
  }
  return true;
}

// More than any report, and than any file of settings or suppressions: a file of another kind that was named
// by mistake, or one without an end.
constexpr size_t kLargestReport = size_t{1} << 30;
constexpr size_t kLargestSettings = size_t{16} << 20;

// A pipe that the shell made for this command (`<(…)`) has a writer; a FIFO somewhere may wait for one for
// ever.
bool handed_over(const std::string& path) {
  return path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/") || path == "/dev/stdin";
}

// Why a file of this kind is not read; null: it is.
const char* unreadable_kind(const struct stat& file, bool from_shell) {
  switch (file.st_mode & S_IFMT) {
    case S_IFREG:
      return nullptr;
    case S_IFDIR:
      return "is a directory, not a file";
    case S_IFIFO:
      return from_shell ? nullptr : "is a named pipe, not a file";
    case S_IFSOCK:
      return "is a socket, not a file";
    default:
      return file.st_rdev == makedev(1, 3) ? nullptr : "is a device, not a file";  // /dev/null is empty
  }
}

// All that comes from an open file. Closes nothing.
Result<std::string> read_open(int fd, const std::string& shown, size_t largest) {
  std::string text;
  std::array<char, 1 << 16> block;
  ssize_t got;
  while ((got = ::read(fd, block.data(), block.size())) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(shown, "cannot be read");
    if (text.size() + static_cast<size_t>(got) > largest)
      return Error{
          fmt::format("{}: is larger than {} MiB, which is more than is read", shown, largest >> 20)};
    text.append(block.data(), static_cast<size_t>(got));
  }
  return text;
}

Result<std::string> read_path(const std::string& path, size_t largest) {
  const bool from_shell = handed_over(path);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | (from_shell ? 0 : O_NONBLOCK));
  if (fd < 0 && errno != ENXIO) return errno_error(path, "cannot be read");
  struct stat file{};
  if (fd < 0 || ::fstat(fd, &file) != 0) {
    if (fd >= 0) ::close(fd);
    return Error{fmt::format("{}: is a socket, not a file", path)};
  }
  const char* refused = unreadable_kind(file, from_shell);
  auto text = refused ? Result<std::string>(Error{fmt::format("{}: {}", path, refused)})
                      : read_open(fd, path, largest);
  ::close(fd);
  return text;
}

// Whether the text is a report's, of whatever version.
bool is_report(const std::string& text) {
  const auto schema = schema_of(text);
  return schema && schema->starts_with("capgate-report/");
}

}  // namespace

bool written_in_place(const std::string& path) {
  std::error_code ec;
  const auto status = std::filesystem::status(path, ec);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

Result<std::string> read_text(const std::string& path) {
  return path == "-" ? read_open(STDIN_FILENO, source_name(path), kLargestReport)
                     : read_path(path, kLargestReport);
}

Result<std::string> read_settings_text(const std::string& path) {
  return read_path(path, kLargestSettings);
}

Result<void> write_text(const std::string& text, const std::string& path) {
  if (path == "-")
    return write_all(STDOUT_FILENO, text) ? Result<void>()
                                          : errno_error("standard output", "cannot be written");
  if (written_in_place(path)) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return errno_error(path, "cannot be written");
    const bool done = write_all(fd, text);
    const int failed = errno;
    ::close(fd);
    errno = failed;
    return done ? Result<void>() : errno_error(path, "cannot be written");
  }
  // What a link leads to is written, not the link.
  std::error_code ec;
  const auto real = std::filesystem::canonical(path, ec);
  const std::string target = ec ? path : real.string();
  std::string temporary = target + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return errno_error(path, "cannot be written");
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const bool done = write_all(fd, text) && ::fchmod(fd, 0666 & ~mask) == 0;
  const int failed = errno;
  if (::close(fd) != 0 || !done || ::rename(temporary.c_str(), target.c_str()) != 0) {
    if (!done) errno = failed;
    const Error error = errno_error(path, "cannot be written");
    ::unlink(temporary.c_str());
    return error;
  }
  return {};
}

namespace {

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
  if (std::filesystem::is_regular_file(path, ec) && std::filesystem::file_size(path, ec) <= kLargestReport &&
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
  const Error refused{source_name(path) + ": is no report, and is not overwritten"};
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
