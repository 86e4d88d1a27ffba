#include "static_checks/worker/stamp.h"

#include <sodium.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>

namespace capgate::lint {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kSettled = 2 * kSecond;  // the coarsest file times in use (FAT, some network drives)

int64_t nanoseconds(const timespec& t) {
  return static_cast<int64_t>(t.tv_sec) * kSecond + t.tv_nsec;
}

}  // namespace

FileStamp stamp_of(const std::string& path) {
  struct stat info{};
  FileStamp stamp;
  if (stat(path.c_str(), &info) != 0) {
    stamp.size = FileStamp::kAbsent;
    return stamp;
  }
  stamp.size = info.st_size;
  stamp.modified_ns = nanoseconds(info.st_mtim);
  stamp.changed_ns = nanoseconds(info.st_ctim);
  stamp.inode = info.st_ino;
  return stamp;
}

FileStamp settled_stamp(const std::string& path, int64_t since_ns) {
  FileStamp stamp = stamp_of(path);
  if (stamp.size >= 0 && std::max(stamp.modified_ns, stamp.changed_ns) > since_ns - kSettled)
    stamp = FileStamp{};
  return stamp;
}

int64_t file_clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return nanoseconds(now);
}

std::string content_digest(std::string_view bytes) {
  std::string digest(16, '\0');
  crypto_generichash(reinterpret_cast<unsigned char*>(digest.data()), digest.size(),
                     reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr, 0);
  return digest;
}

}  // namespace capgate::lint
