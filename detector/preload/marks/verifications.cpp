#include "detector/preload/marks/verifications.h"

#include <errno.h>
#include <string.h>

#include "detector/preload/marks/ranges.h"
#include "detector/preload/stacks/stacks.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/table/window.h"
#include "detector/preload/writer/strings.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

void write_verification(ThreadState& thread, trace::VerifyOp op, const char* name, const char* facts) {
  if (!thread.named) name_thread(thread);
  write_open_ranges(thread);
  // Everything that writes other records comes before the reservation: a chunk is filled in order.
  const uint32_t name_id = intern(thread, name), facts_id = intern(thread, facts);
  const BothStacks stacks = op == trace::VerifyOp::begin ? both_stacks(thread) : BothStacks();
  auto* record = reserve<trace::VerifyRecord>(thread);
  if (record == nullptr) return;
  record->t_ns = monotonic_ns();
  record->op = uint16_t(op);
  record->name = name_id;
  record->facts = facts_id;
  record->stack = stacks.native;
  record->python_stack = stacks.python;
  commit_record(thread, record, trace::RecordType::verify, sizeof(*record));
}

// Of the eager steps those with one filling are enough to compare a graph's nodes with, in the first round.
void follow_phase(ThreadState& thread, trace::VerifyOp op, const char* name, const char* facts) {
  thread.sampled_eager = false;
  if (op != trace::VerifyOp::step) return;
  if (strcmp(name, "load") == 0)
    thread.loads_sampled = strstr(facts, "run=eager") != nullptr && strstr(facts, "filling=0") != nullptr &&
                           strstr(facts, "refilled=0") != nullptr;
  thread.sampled_eager = thread.loads_sampled && strcmp(name, "launch") == 0;
}

}  // namespace

void note_verification(trace::VerifyOp op, const char* name, const char* facts) {
  ThreadState* thread = this_thread();
  if (thread == nullptr || thread->busy) return;
  Busy busy(*thread);
  const int saved = errno;
  const bool begins = op == trace::VerifyOp::begin;
  // Without its begin, what follows says nothing: CUDA had not started then.
  if (begins ? !trace_live() : thread->verifications == 0) return;
  if (begins && thread->verifications++ == 0) open_window();
  if (trace_live()) write_verification(*thread, op, name, facts);
  follow_phase(*thread, op, name != nullptr ? name : "", facts != nullptr ? facts : "");
  if (op == trace::VerifyOp::end && --thread->verifications == 0) close_window();
  errno = saved;
}

}  // namespace capgate::preload
