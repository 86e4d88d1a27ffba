// How far a long run is, on a terminal.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

#include "base/printable.h"

namespace capgate::cli {

// One line on a terminal, once the run has taken longer than a second.
class ProgressLine {
 public:
  void show(size_t done, size_t all, const std::string& file) {
    if (!terminal_ || std::chrono::steady_clock::now() - start_ < std::chrono::seconds(1)) return;
    const std::string name = printable(file.substr(file.rfind('/') + 1)).substr(0, 48);
    std::fprintf(stderr, "\r\x1b[K[%zu/%zu] %s", done, all, name.c_str());
    std::fflush(stderr);
    shown_ = true;
  }
  void clear() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool terminal_ = isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
};

}  // namespace capgate::cli
