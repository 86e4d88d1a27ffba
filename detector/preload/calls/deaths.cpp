#include "detector/preload/calls/deaths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "detector/preload/cuda/captures.h"
#include "detector/preload/python/python_lines.h"
#include "detector/preload/stacks/stacks.h"
#include "detector/preload/system/debug.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/modules.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/trace/death_notice.h"

namespace capgate::preload {
namespace {

constexpr uint32_t kFrames = 24;

// Room for a notice; what does not fit is left out.
struct Notice {
  char data[12 << 10];
  size_t size = 0;

  void add(const char* text, size_t bytes) {
    if (bytes > sizeof(data) - 1 - size) bytes = sizeof(data) - 1 - size;
    memcpy(data + size, text, bytes);
    size += bytes;
  }
  // A text that may hold anything: nothing in it may look like an end of ours.
  void add_foreign(const char* text) {
    const size_t from = size;
    add(text, strlen(text));
    for (size_t i = from; i < size; ++i)
      if (static_cast<unsigned char>(data[i]) < ' ') data[i] = '?';
  }
  bool has_room_for(size_t bytes) const { return sizeof(data) - 1 - size >= bytes; }
};

void add_python(Notice& notice) {
  const size_t from = notice.size;
  notice.size += python_text(notice.data + from, 4 << 10);
  for (size_t i = from; i < notice.size; ++i)
    if (notice.data[i] == '\n') notice.data[i] = trace::kNoticeLineEnd;
}

void add_frames(Notice& notice) {
  uint64_t ips[kFrames];
  const uint32_t count = caller_addresses(ips, kFrames);
  for (uint32_t i = 0; i < count; ++i) {
    char path[PATH_MAX];
    uint64_t address = 0;
    // The address before: a call that does not return stands at the end of its function.
    if (!locate_address(ips[i] - 1, path, sizeof(path), &address)) continue;
    Text hex;
    hex.hex(address + 1);
    if (!notice.has_room_for(strlen(path) + hex.size() + 3)) return;
    notice.add(&trace::kNoticeField, 1);
    notice.add_foreign(path);
    notice.add("+", 1);
    notice.add(hex.c_str(), hex.size());
  }
}

bool write_notice(const char* file, const Notice& notice) {
  const Uncancelled uncancelled;
  const int fd = above_standard_streams(open(file, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
  if (fd < 0) return false;
  const bool whole = write(fd, notice.data, notice.size) == ssize_t(notice.size);
  close(fd);
  return whole;
}

bool tell_launcher(const char* name, int32_t result, uint32_t other_thread) {
  const char* file = setting("CAPGATE_DEATHS");
  if (*file == 0) return false;
  Notice notice;
  notice.add_foreign(name);
  Text numbers;
  numbers << "\t" << uint64_t(uint32_t(result)) << "\t" << uint64_t(other_thread) << "\t";
  notice.add(numbers.c_str(), numbers.size());
  add_python(notice);
  add_frames(notice);
  notice.data[notice.size++] = '\n';
  const int saved = errno;
  const bool told = write_notice(file, notice);
  errno = saved;
  return told;
}

}  // namespace

void tell_death(const ThreadState& thread, const OpenCapture& capture, const char* name, int32_t result) {
  if (name == nullptr) name = "a call";
  if (debugging())
    debug(Text() << "capture " << capture.id << " invalidated by " << name << ", result "
                 << uint64_t(uint32_t(result)));
  const uint32_t caller = thread.tid.load(std::memory_order_relaxed);
  const uint32_t other_thread = capture.tid != caller ? caller : 0;
  if (tell_launcher(name, result, other_thread)) return;
  char native[256], python[512];
  describe_caller(native, sizeof(native));
  describe_python(python, sizeof(python));
  Text line;
  line << "capture died: " << name << " returned " << uint64_t(uint32_t(result));
  if (other_thread != 0) line << " on another thread (" << uint64_t(other_thread) << ")";
  if (python[0] != 0) line << " at " << python;
  if (native[0] != 0) line << (python[0] != 0 ? ", " : " at ") << native;
  say(line);
}

}  // namespace capgate::preload
