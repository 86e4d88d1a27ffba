#include "detector/preload/system/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex.h"

namespace capgate::preload {
namespace {

struct stat g_stderr;
bool g_stderr_known = false;

constexpr char kOurs[] = "CAPGATE_";
constexpr uint32_t kMaxSettings = 64;
const char* g_settings[kMaxSettings];  // "CAPGATE_NAME=VALUE" each
uint32_t g_setting_count = 0;

// Runs when the library is loaded, before the program's first line and the library's other constructors,
// which ask for settings.
__attribute__((constructor(200))) void remember_surroundings() {
  const int saved = errno;
  g_stderr_known = fstat(STDERR_FILENO, &g_stderr) == 0;
  errno = saved;
  size_t bytes = 0;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (strncmp(*entry, kOurs, sizeof(kOurs) - 1) == 0) bytes += strlen(*entry) + 1;
  if (bytes == 0) return;
  auto* kept = static_cast<char*>(map_memory(bytes));
  if (kept == nullptr) return;
  for (char** entry = environ; *entry != nullptr && g_setting_count < kMaxSettings; ++entry) {
    if (strncmp(*entry, kOurs, sizeof(kOurs) - 1) != 0) continue;
    const size_t size = strlen(*entry) + 1;
    memcpy(kept, *entry, size);
    g_settings[g_setting_count++] = kept;
    kept += size;
  }
}

bool stderr_is_the_same() {
  struct stat now;
  if (fstat(STDERR_FILENO, &now) != 0) return false;
  return isatty(STDERR_FILENO) == 1 ||
         (g_stderr_known && now.st_dev == g_stderr.st_dev && now.st_ino == g_stderr.st_ino);
}

}  // namespace

// SIGPIPE and SIGXFSZ are for programs whose own output breaks. They are held back, and taken away if they
// came.
void write_quietly(int fd, const Text& line) {
  pollfd room{fd, POLLOUT, 0};
  if (poll(&room, 1, 0) != 1 || (room.revents & POLLOUT) == 0) return;
  sigset_t held, before, pending;
  sigemptyset(&held);
  sigaddset(&held, SIGPIPE);
  sigaddset(&held, SIGXFSZ);
  sigpending(&pending);
  if (pthread_sigmask(SIG_BLOCK, &held, &before) != 0) return;
  if (write(fd, line.c_str(), line.size()) < 0 && (errno == EPIPE || errno == EFBIG)) {
    const int sent = errno == EPIPE ? SIGPIPE : SIGXFSZ;
    sigset_t came;
    sigemptyset(&came);
    sigaddset(&came, sent);
    const timespec now{};
    if (sigismember(&pending, sent) != 1)
      while (sigtimedwait(&came, nullptr, &now) < 0 && errno == EINTR) {
      }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

int above_standard_streams(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(fd);
  return above;
}

Text& Text::add(const char* s, size_t bytes) {
  if (bytes > sizeof(data_) - 1 - size_) bytes = sizeof(data_) - 1 - size_;
  memcpy(data_ + size_, s, bytes);
  size_ += bytes;
  data_[size_] = 0;
  return *this;
}

Text& Text::operator<<(uint64_t value) {
  char digits[24];
  size_t at = sizeof(digits);
  do {
    digits[--at] = char('0' + value % 10);
    value /= 10;
  } while (value != 0);
  return add(digits + at, sizeof(digits) - at);
}

Text& Text::hex(uint64_t value) {
  char digits[20];
  size_t at = sizeof(digits);
  do {
    digits[--at] = hex_digit(unsigned(value));
    value >>= 4;
  } while (value != 0);
  digits[--at] = 'x';
  digits[--at] = '0';
  return add(digits + at, sizeof(digits) - at);
}

Text printable_line(const char* head, const Text& text) {
  Text line;
  line << head;
  for (const char* p = text.c_str(); *p != 0 && line.size() < 2000; ++p) {
    const bool control = static_cast<unsigned char>(*p) < 0x20 || *p == 0x7f;
    line.add(control ? "?" : p, 1);
  }
  line << "\n";
  return line;
}

void say(const char* head, const Text& text) {
  const Uncancelled uncancelled;
  const int saved = errno;
  if (stderr_is_the_same()) write_quietly(STDERR_FILENO, printable_line(head, text));
  errno = saved;
}

void say(const Text& text) {
  say("capgate: ", text);
}

const char* setting(const char* name) {
  if (strncmp(name, kOurs, sizeof(kOurs) - 1) == 0) {
    const size_t length = strlen(name);
    for (uint32_t i = 0; i < g_setting_count; ++i)
      if (strncmp(g_settings[i], name, length) == 0 && g_settings[i][length] == '=')
        return g_settings[i] + length + 1;
    return "";
  }
  const char* value = getenv(name);
  return value != nullptr ? value : "";
}

size_t read_whole(const char* path, char* out, size_t size) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t n = read(fd, out, size);
  close(fd);
  return n > 0 ? size_t(n) : 0;
}

}  // namespace capgate::preload
