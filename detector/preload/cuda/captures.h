// The captures that are open in the process.
#pragma once

#include <stdint.h>

namespace capgate::preload {

struct ThreadState;

// What was being handled when a capture began: that did not come from it.
struct ExceptionsBefore {
  static constexpr int kMost = 4;
  uint64_t python[kMost];  // innermost first, 0 none
  uint64_t cxx_caught;
  uint32_t cxx_uncaught;
};

struct OpenCapture {
  uint64_t stream;  // a null stream of the per-thread kind stands as 2
  uint64_t id;
  uint64_t begin_seq;
  uint32_t tid;
  uint32_t mode;
  ThreadState* thread;
  bool dead;  // its death was told
  ExceptionsBefore before;
};

// How many are open.
uint32_t captures_open();

// False: too many are open to keep track of this one.
bool capture_begins(const OpenCapture& capture);

// Takes the stream's capture out. False: none was open there.
bool capture_ends(uint64_t stream, OpenCapture* out);

// Of those that the thread began, the one that it began last. False: none of them is open.
bool newest_capture_of(const ThreadState& thread, uint64_t* begin_seq);

// After a call that failed: true when it broke a capture that was alive so far (told once a capture).
bool capture_just_died(OpenCapture* out);

}  // namespace capgate::preload
