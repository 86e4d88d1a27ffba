// Marked regions, buckets, allow scopes and eager breaks, whichever way the program marks them.
#pragma once

#include <stdint.h>

#include "detector/preload/writer/thread_state.h"
#include "detector/trace/format.h"

namespace capgate::preload {

// The globs of CAPGATE_REGIONS, one a line: NAME-GLOB for the default domain, DOMAIN@GLOB for others, matched
// as the analysis matches them.
bool is_step_name(const char* name, const char* domain);

// A nested range of the calling thread. domain null: the default one.
void push_range(const char* name, const char* domain, trace::RegionSource source);
void pop_range(const char* domain, trace::RegionSource source);

// A range of the whole process; the id comes from the caller and names the pair.
void start_range(const char* name, const char* domain, uint64_t range, trace::RegionSource source);
void stop_range(uint64_t range, trace::RegionSource source);

// Scopes of capgate.h. second: the reason of an allow.
void begin_scope(RangeKind kind, const char* name, const char* second);
void end_scope(RangeKind kind);

// "subject.KEY" of the report.
void set_subject(const char* key, const char* value);

// The bucket that is in force on this thread until the next one; null or empty: none.
void set_bucket(const char* name);

// Whether a start/stop region is open in the process.
bool process_range_open();

// Writes the begins of ranges that were opened before there was a trace.
void write_open_ranges(ThreadState& thread);
void write_started_ranges(ThreadState& thread);
void write_subjects(ThreadState& thread);

}  // namespace capgate::preload
