#include "detector/preload/sys.h"

#include <stdlib.h>
#include <unistd.h>

namespace capgate::preload {

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
    digits[--at] = "0123456789abcdef"[value & 15];
    value >>= 4;
  } while (value != 0);
  digits[--at] = 'x';
  digits[--at] = '0';
  return add(digits + at, sizeof(digits) - at);
}

void say(const Text& text) {
  Text line;
  line << "capgate: " << text.c_str() << "\n";
  // stderr may be closed or full: there is nobody left to tell.
  if (write(STDERR_FILENO, line.c_str(), line.size()) < 0) return;
}

const char* setting(const char* name) {
  const char* value = getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace capgate::preload
