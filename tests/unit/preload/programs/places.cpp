// Waits at places that are easily taken for one another, again and again: what is known of one must not be
// told of another.
#include <alloca.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <thread>
#include <vector>

#include "detector/include/capgate/capgate.h"
#include "tests/unit/preload/fake/fake_runtime.h"

namespace {

thread_local cudaStream_t t_stream = nullptr;

#define PLACE __attribute__((noinline)) void

PLACE wait_here() {
  fake_rt::stream_synchronize(t_stream);
  asm volatile("");
}

PLACE ask_here() {
  fake_rt::stream_query(t_stream);
  asm volatile("");
}

// The same depth and the same frames' sizes, other functions.
PLACE one_way(void (*work)()) {
  work();
  asm volatile("");
}
PLACE other_way(void (*work)()) {
  work();
  asm volatile("" ::"r"(work));
}

// The same function, called at many lines of one caller.
PLACE many_lines() {
  wait_here();
  asm volatile("nop");
  wait_here();
  asm volatile("nop");
  wait_here();
  asm volatile("nop");
  wait_here();
}

// NOLINTNEXTLINE(misc-no-recursion)
PLACE deeper(int frames) {
  if (frames > 0)
    deeper(frames - 1);
  else
    wait_here();
  asm volatile("");
}

// Frames of varying size whose sum is the same: the wait stands at the same depth each time.
PLACE inner_room(size_t bytes) {
  void* room = alloca(bytes);
  asm volatile("" ::"r"(room));
  wait_here();
  asm volatile("" ::"r"(room));
}
PLACE outer_room(size_t bytes, size_t all) {
  void* room = alloca(bytes);
  asm volatile("" ::"r"(room));
  inner_room(all - bytes);
  asm volatile("" ::"r"(room));
}
// Two functions at one call: the return address of one lies in the other's untouched room.
PLACE smaller() {
  void* room = alloca(96);
  asm volatile("" ::"r"(room));
  inner_room(1024);
  asm volatile("" ::"r"(room));
}
PLACE larger() {
  void* room = alloca(256);
  asm volatile("" ::"r"(room));
  for (size_t less = 64; less <= 256; less += 16) inner_room(1024 - less);
  asm volatile("" ::"r"(room));
}

void on_signal(int) {
  wait_here();
}

ucontext_t g_main, g_fiber;
void fiber_body() {
  wait_here();
  swapcontext(&g_fiber, &g_main);
}

// A coroutine's stack, whose memory is gone when the next one comes to the same place with less of it.
void fibers() {
  constexpr size_t kBytes = 256 << 10;
  void* first = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (first == MAP_FAILED) exit(7);
  for (const size_t bytes : {kBytes, kBytes / 2, kBytes / 4}) {
    if (bytes != kBytes) munmap(static_cast<char*>(first) + bytes, kBytes - bytes);
    getcontext(&g_fiber);
    g_fiber.uc_stack.ss_sp = first;
    g_fiber.uc_stack.ss_size = bytes;
    g_fiber.uc_link = nullptr;
    makecontext(&g_fiber, fiber_body, 0);
    swapcontext(&g_main, &g_fiber);
  }
}

void all_places() {
  fake_rt::stream_create(&t_stream, cudaStreamNonBlocking);
  for (int round = 0; round < 3; ++round) {
    capgate::region step("step");
    one_way(wait_here);
    other_way(wait_here);
    one_way(ask_here);
    other_way(ask_here);
    many_lines();
    for (int frames = 0; frames < 40; ++frames) deeper(frames);
    deeper(150);
    for (size_t bytes = 64; bytes < 1024; bytes += 64) outer_room(bytes, 1024);
    for (void (*work)() : {smaller, larger, smaller}) one_way(work);
  }
}

}  // namespace

void wait_at_many_places() {
  all_places();
  {
    capgate::region step("step");
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 2; ++i) raise(SIGUSR1);
    fibers();
  }
  // One thread after the other: the next one's stack lies where the last one's lay.
  for (int i = 0; i < 3; ++i) std::thread(all_places).join();
}
