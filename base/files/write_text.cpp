#include "base/files/write_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace capgate {
namespace {

Error cannot_be_written(const std::string& shown) {
  return Error{fmt::format("{}: cannot be written: {}", shown, std::strerror(errno))};
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

Result<void> write_there(std::string_view text, const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return cannot_be_written(path);
  const bool done = write_all(fd, text);
  const int failed = errno;
  ::close(fd);
  errno = failed;
  return done ? Result<void>() : cannot_be_written(path);
}

}  // namespace

bool written_in_place(const std::string& path) {
  std::error_code ec;
  const auto status = std::filesystem::status(path, ec);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

Result<void> write_text(std::string_view text, const std::string& path) {
  if (path == "-")
    return write_all(STDOUT_FILENO, text) ? Result<void>() : cannot_be_written("standard output");
  if (written_in_place(path)) return write_there(text, path);
  std::error_code ec;
  const auto real = std::filesystem::canonical(path, ec);
  const std::string target = ec ? path : real.string();
  std::string temporary = target + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return cannot_be_written(path);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const bool done = write_all(fd, text) && ::fchmod(fd, 0666 & ~mask) == 0;
  const int failed = errno;
  if (::close(fd) != 0 || !done || ::rename(temporary.c_str(), target.c_str()) != 0) {
    if (!done) errno = failed;
    const Error error = cannot_be_written(path);
    ::unlink(temporary.c_str());
    return error;
  }
  return {};
}

}  // namespace capgate
