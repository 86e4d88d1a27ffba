#include "detector/preload/calls/consequences.h"

#include "detector/preload/calls/deaths.h"
#include "detector/preload/calls/exceptions.h"
#include "detector/preload/calls/graph_calls.h"
#include "detector/preload/calls/until.h"
#include "detector/preload/cuda/captures.h"
#include "detector/preload/cuda/driver_api.h"
#include "detector/preload/cuda/graph_dump.h"
#include "detector/preload/marks/sampled_steps.h"
#include "detector/preload/memory/host_watch.h"
#include "detector/preload/memory/pool_blocks.h"
#include "detector/preload/system/debug.h"
#include "detector/preload/table/call_shape.h"
#include "detector/preload/table/families.h"
#include "detector/preload/table/window.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/trace/cuda_results.h"

namespace capgate::preload {
namespace {

void begin_capture(ThreadState& thread, const Frame& frame, uint32_t mode, uint64_t* capture_id) {
  const uint64_t stream = frame.stream;
  const StreamCapture now = stream_capture(stream, false);
  *capture_id = now.id;
  const bool followed =
      capture_begins({stream, now.id, frame.seq, thread.tid, mode, &thread, false, exceptions_now()});
  if (debugging())
    debug(Text() << "capture " << now.id << " begins"
                 << (followed ? "" : " and is not followed: too many are open"));
  if (followed) open_window();
}

void end_capture(ThreadState& thread, const Frame& frame, const CUpti_CallbackData& call, int32_t result,
                 uint64_t graph) {
  // These two leave the capture as it is: it belongs to another stream or thread.
  if (result == trace::kCaptureUnmatched || result == trace::kCaptureWrongThread) return;
  OpenCapture capture;
  if (!capture_ends(frame.stream, &capture)) return;
  note_exceptions_at_end(thread, capture);
  if (result != 0 && !capture.dead) tell_death(thread, capture, call.functionName, result);
  if (debugging())
    debug(Text() << "capture " << capture.id << " ends, result " << uint64_t(uint32_t(result)));
  write_capture(thread, capture, frame.seq, result == 0 ? graph : 0, result);
  close_window();
  note_capture_done(result == 0);
}

}  // namespace

void follow(ThreadState& thread, Frame& frame, const CUpti_CallbackData& call, int32_t result,
            uint64_t product) {
  const auto family = frame.shape->kind();
  if (family == Family::capture_end) {
    end_capture(thread, frame, call, result, product);
    return;
  }
  follow_graph_call(thread, frame, call, result);
  if (result != 0) {
    if (result == trace::kNotReady) return;
    OpenCapture dead;
    while (captures_open() != 0 && capture_just_died(&dead))
      tell_death(thread, dead, call.functionName, result);
    return;
  }
  switch (family) {
    case Family::capture_begin: {
      uint64_t id = 0;
      begin_capture(thread, frame, uint32_t(frame.arg), &id);
      write_living_pool_blocks(thread);
      if (frame.record != nullptr) frame.record->capture_id = id;
      break;
    }
    case Family::capture_mode:
      thread.mode = uint8_t(frame.arg);
      break;
    case Family::host_func:
      if (frame.record != nullptr && (frame.record->flags & trace::kCapturing) != 0)
        watch_callback_data(thread, frame.record->src, frame.seq);
      break;
    case Family::graph_launch:
      thread.launched_graph = true;
      if (frame.record != nullptr && replay_begins(thread, frame.record->object))
        frame.record->flags |= trace::kSampledStep;
      note_replay();
      break;
    case Family::stream_destroy: {
      OpenCapture lost;
      if (capture_ends(frame.stream, &lost)) close_window();
      break;
    }
    default:
      break;
  }
}

}  // namespace capgate::preload
