#include "reports/model/report_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
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

// More than any report, trace or settings file: /dev/zero, or a file of another kind that was named by
// mistake.
constexpr size_t kLargest = size_t{1} << 30;

}  // namespace

bool written_in_place(const std::string& path) {
  std::error_code ec;
  const auto status = std::filesystem::status(path, ec);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

Result<std::string> read_text(const std::string& path) {
  const bool standard = path == "-";
  const std::string shown = source_name(path);
  std::error_code ec;
  if (!standard && std::filesystem::is_directory(path, ec))
    return Error{fmt::format("{}: is a directory, not a file", path)};
  const int fd = standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno_error(shown, "cannot be read");
  std::string text;
  std::array<char, 1 << 16> block;
  ssize_t got;
  while ((got = ::read(fd, block.data(), block.size())) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    if (text.size() + static_cast<size_t>(got) > kLargest) {
      if (!standard) ::close(fd);
      return Error{
          fmt::format("{}: is larger than {} MiB, which is more than is read", shown, kLargest >> 20)};
    }
    text.append(block.data(), static_cast<size_t>(got));
  }
  const int failed = got < 0 ? errno : 0;
  if (!standard) ::close(fd);
  errno = failed;
  if (failed) return errno_error(shown, "cannot be read");
  return text;
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

Result<ReadReport> read_report(const std::string& path) {
  auto text = read_text(path);
  if (!text) return Error{text.error()};
  auto report = from_json(*text, source_name(path));
  if (!report) return Error{report.error()};
  return ReadReport{std::move(*report), sha256_hex(*text)};
}

Result<Report> read_report_alone(const std::string& path) {
  std::error_code ec;
  if (std::filesystem::is_regular_file(path, ec) && std::filesystem::file_size(path, ec) <= kLargest && !ec) {
    std::ifstream text(path, std::ios::binary);
    if (auto report = from_json(text)) return std::move(*report);
  }
  const auto text = read_text(path);
  if (!text) return Error{text.error()};
  return from_json(*text, source_name(path));
}

Result<void> may_become_report(const std::string& path) {
  // An option that lost its value (`--out a.cu`) must not cost a source, a trace or a program.
  std::error_code ec;
  if (path == "-" || !std::filesystem::is_regular_file(path, ec)) return {};
  std::ifstream there(path, std::ios::binary);
  char first = 0;
  if (there >> first && first != '{')
    return Error{source_name(path) + ": is no report, and is not overwritten"};
  return {};
}

Result<void> write_report(const Report& report, const std::string& path) {
  if (auto allowed = may_become_report(path); !allowed) return allowed;
  return write_text(to_json(report), path);
}

}  // namespace capgate::reports
