// What the program marks in the raw trace, and what happens in it: regions, exceptions, notices,
// verifications.
#pragma once

#include <stdint.h>

#include "detector/trace/record_header.h"

namespace capgate::trace {

enum class RegionOp : uint16_t { push = 1, pop = 2, start = 3, stop = 4 };
enum class RegionSource : uint16_t { nvtx = 1, capgate_h = 2 };
// RecordHeader::flags of a push: the kernel launches in the range are recorded.
inline constexpr uint16_t kSampledRegion = 1;

struct RegionRecord {
  RecordHeader h;
  uint64_t t_ns;
  uint16_t op;      // RegionOp
  uint16_t source;  // RegionSource
  uint32_t name;    // string id
  uint32_t domain;  // string id, 0 the default domain
  uint32_t stack;   // 0: no rule asks where a range begins, and a step should not pay for it
  uint64_t range;   // start/stop pair
};

enum class MarkOp : uint16_t {
  bucket_push = 1,
  bucket_pop = 2,
  allow_begin = 3,
  allow_end = 4,
  break_begin = 5,
  break_end = 6,
  detach = 8  // 7 was never written
};

struct MarkRecord {
  RecordHeader h;
  uint64_t t_ns;
  uint16_t op;  // MarkOp
  uint16_t reserved;
  uint32_t a;      // string id: bucket name, rule, break name
  uint32_t b;      // string id: reason
  uint32_t stack;  // 0
};

// thrown: C++ throws on a thread that has a capture open; most of these are caught again, and the capture
// goes on. leaves: a capture is ended while the exception is on its way out of it. handled: it is ended by
// the code that handles the exception, which may have caught it inside. uncaught: the interpreter prints it
// and ends.
enum class ExceptionEvent : uint16_t { thrown = 1, leaves = 2, handled = 3, uncaught = 4 };
enum class ExceptionLanguage : uint16_t { cxx = 1, python = 2 };

struct ExceptionRecord {
  RecordHeader h;
  uint64_t t_ns;
  uint64_t begin_seq;     // of the capture's begin call; 0: the thread had none open
  uint64_t object;        // the exception; C++ that is handled: its header, which lies before the object
  uint16_t event;         // ExceptionEvent
  uint16_t language;      // ExceptionLanguage
  uint32_t uncaught;      // C++: exceptions on their way on this thread, before this throw
  uint32_t type;          // string id: mangled C++ type or Python class, 0 not known
  uint32_t text;          // string id: its message, 0 not known
  uint32_t stack;         // native, thrown only
  uint32_t python_stack;  // where it was raised
};

enum class NoticeKind : uint16_t { capture_skipped = 1, many_recordings = 2 };

struct NoticeRecord {
  RecordHeader h;
  uint64_t t_ns;
  uint16_t kind;  // NoticeKind
  uint16_t reserved;
  uint32_t text;  // string id: the framework's own words
  uint32_t python_stack;
  uint32_t reserved2;
};

// step: a step enters a phase, which is the record's name: load (its inputs are loaded), fill (its outputs
// are filled), launch (the eager step or the program's own launch), read (its outputs are copied).
enum class VerifyOp : uint16_t { begin = 1, step = 2, output = 3, differs = 4, end = 5 };

// What verify_replay says of itself, in order, on the thread that verifies. It is a claim: the calls between
// its records show whether it is true. The facts are `KEY=VALUE`, one space between two of them, and `why`
// reaches to the end of the text:
//   begin    name: of the verification; inputs, steps: how many
//   step     load: run (eager | replay), set, step, filling (0 or 1), refilled (1: free memory was filled)
//   output   name: of the output; address, bytes, by (copy | kernel | host: how it is copied), state (0 or
//   1);
//            or, at the end: noise (of two eager runs), varied (1: input sets changed it)
//   differs  name: of the output; set, step, filling, refilled, index, eager, replay, elements, of, largest,
//            allowed, kept (1: it is what the output was filled with), state
//   end      name: equal | differs | nothing | raised; refilled: bytes; varied: sets whose eager outputs
//            differ from the first one's, separated by commas; why
struct VerifyRecord {
  RecordHeader h;
  uint64_t t_ns;
  uint16_t op;  // VerifyOp
  uint16_t reserved;
  uint32_t name;                 // string id
  uint32_t facts;                // string id
  uint32_t stack, python_stack;  // of the begin: where the program asks for it
  uint32_t reserved2;
};

}  // namespace capgate::trace
