#include "cli/audit/trace_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "detector/trace/format.h"

namespace capgate::cli {
namespace fs = std::filesystem;
namespace {

std::optional<trace::FileHeader> header_of(const fs::path& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  trace::FileHeader header{};
  const ssize_t bytes = read(fd, &header, sizeof header);
  close(fd);
  if (bytes != static_cast<ssize_t>(sizeof header)) return std::nullopt;
  if (std::memcmp(header.magic, trace::kMagic, sizeof header.magic) != 0) return std::nullopt;
  return header;
}

}  // namespace

Result<TraceFolder> TraceFolder::temporary() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern = std::string(base != nullptr && *base == '/' ? base : "/tmp") + "/capgate-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    return Error{fmt::format("cannot make a folder for the trace, {}: {}; give one with --trace DIR", pattern,
                             std::strerror(errno))};
  }
  return TraceFolder(pattern, true);
}

Result<TraceFolder> TraceFolder::kept(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return Error{fmt::format("--trace {}: {}", path, error.message())};
  const fs::path real = fs::canonical(path, error);
  if (error || !fs::is_directory(real)) return Error{fmt::format("--trace {}: is not a folder", path)};
  if (access(real.c_str(), W_OK | X_OK) != 0) {
    return Error{fmt::format("--trace {}: {}", path, std::strerror(errno))};
  }
  const int lock = open(real.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  TraceFolder folder(real.string(), false, lock);
  if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return Error{fmt::format("--trace {}: another audit is writing there", path)};
  }
  for (const auto& entry : fs::directory_iterator(real, error)) {
    if (!entry.is_regular_file(error)) continue;
    if (entry.path().filename() == "trace.cgtrace" || header_of(entry.path()))
      fs::remove(entry.path(), error);
  }
  return folder;
}

TraceFolder::TraceFolder(TraceFolder&& other) noexcept
    : path_(std::move(other.path_)),
      remove_(std::exchange(other.remove_, false)),
      lock_(std::exchange(other.lock_, -1)) {}

TraceFolder::~TraceFolder() {
  remove();
  if (lock_ >= 0) close(lock_);
}

void TraceFolder::remove() {
  if (!std::exchange(remove_, false)) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::set<pid_t> traced_processes(const std::string& folder) {
  std::set<pid_t> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (const auto header = header_of(entry.path())) found.insert(static_cast<pid_t>(header->pid));
  }
  return found;
}

}  // namespace capgate::cli
