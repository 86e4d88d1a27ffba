#include "base/files/read_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace capgate {
namespace {

Error cannot_be_read(const std::string& shown) {
  return Error{fmt::format("{}: cannot be read: {}", shown, std::strerror(errno))};
}

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
Result<std::string> read_open(int fd, const std::string& shown, size_t largest, size_t expected = 0) {
  std::string text;
  text.reserve(expected);
  std::array<char, 1 << 16> block;
  ssize_t got;
  while ((got = ::read(fd, block.data(), block.size())) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_be_read(shown);
    if (text.size() + static_cast<size_t>(got) > largest)
      return Error{
          fmt::format("{}: is larger than {} MiB, which is more than is read", shown, largest >> 20)};
    text.append(block.data(), static_cast<size_t>(got));
  }
  return text;
}

}  // namespace

Result<std::string> read_file(const std::string& path, size_t largest) {
  const bool from_shell = handed_over(path);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | (from_shell ? 0 : O_NONBLOCK));
  if (fd < 0 && errno != ENXIO) return cannot_be_read(path);
  struct stat file{};
  if (fd < 0 || ::fstat(fd, &file) != 0) {
    if (fd >= 0) ::close(fd);
    return Error{fmt::format("{}: is a socket, not a file", path)};
  }
  const char* refused = unreadable_kind(file, from_shell);
  const auto expected = static_cast<size_t>(file.st_size);
  auto text = refused ? Result<std::string>(Error{fmt::format("{}: {}", path, refused)})
                      : read_open(fd, path, largest, expected <= largest ? expected : 0);
  ::close(fd);
  return text;
}

Result<std::string> read_text(const std::string& path) {
  return path == "-" ? read_open(STDIN_FILENO, "standard input", kLargestText)
                     : read_file(path, kLargestText);
}

Result<std::string> read_settings_text(const std::string& path) {
  return read_file(path, kLargestSettings);
}

}  // namespace capgate
