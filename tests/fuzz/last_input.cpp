#include "tests/fuzz/last_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>

#ifdef __SANITIZE_ADDRESS__
// NOLINTNEXTLINE(readability-identifier-naming): the sanitizer's
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

namespace capgate::fuzz {
namespace {

const std::string* current_reader = nullptr;
const std::string* current_input = nullptr;
uint64_t current_number = 0;

// Takes no memory: the heap may be what is broken.
void keep_input() {
  if (!current_reader) return;
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), "crash-%s", current_reader->c_str());
  const int file = open(text.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const bool kept = file >= 0 && write(file, current_input->data(), current_input->size()) ==
                                     static_cast<ssize_t>(current_input->size());
  const int length = std::snprintf(
      text.data(), text.size(), "reader %s, input %llu (%zu bytes), %s crash-%s\n", current_reader->c_str(),
      static_cast<unsigned long long>(current_number), current_input->size(),
      kept ? "kept as" : "could not be kept as", current_reader->c_str());
  if (length > 0 && write(STDERR_FILENO, text.data(), static_cast<size_t>(length)) < 0) return;
}

void on_signal(int number) {
  keep_input();
  raise(number);  // ends the process: the handler was set for one signal
}

}  // namespace

void keep_last_input_on_crash() {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_set_death_callback(keep_input);
  constexpr std::array kSignals{SIGABRT};
#else
  constexpr std::array kSignals{SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
#endif
  // A stack of its own: an endless recursion leaves no room on the other one.
  static std::array<char, 64 << 10> room;
  stack_t stack{};
  stack.ss_sp = room.data();
  stack.ss_size = room.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
  for (const int number : kSignals) sigaction(number, &action, nullptr);
}

void reading(const std::string& reader, const std::string& input, uint64_t number) {
  current_reader = &reader;
  current_input = &input;
  current_number = number;
}

void nothing_is_read() {
  current_reader = nullptr;
}

}  // namespace capgate::fuzz
