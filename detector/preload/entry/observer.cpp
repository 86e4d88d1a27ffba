// Rules of this file. It runs inside the program's CUDA calls, with whatever locks CUDA holds there: no
// malloc, no waiting for another thread that may be in CUDA, no lock across a call. `errno` is the program's.
// Calls made from here are not the program's: the thread's busy flag turns their callbacks away.
#include "detector/preload/entry/observer.h"

#include <errno.h>

#include "detector/preload/calls/api_calls.h"
#include "detector/preload/calls/resources.h"
#include "detector/preload/cuda/first_callback.h"
#include "detector/preload/system/parts.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
  if (!trace_live()) return;
  ThreadState* thread = this_thread();
  if (thread == nullptr || data == nullptr) return;
  if (thread->busy || without(Part::calls)) return;
  Busy busy(*thread);
  // Above the saved frame pointer: this library is built with one.
  thread->entry = reinterpret_cast<uint64_t>(__builtin_frame_address(0)) + sizeof(void*);
  const int saved = errno;
  switch (domain) {
    case CUPTI_CB_DOMAIN_RUNTIME_API:
    case CUPTI_CB_DOMAIN_DRIVER_API: {
      const auto& call = *static_cast<const CUpti_CallbackData*>(data);
      note_callback(*thread);
      if (call.callbackSite == CUPTI_API_ENTER) {
        enter_call(*thread, domain, cbid, call);
      } else {
        leave_call(*thread, domain, cbid, call);
      }
      break;
    }
    case CUPTI_CB_DOMAIN_RESOURCE:
      note_resource(*thread, cbid, *static_cast<const CUpti_ResourceData*>(data));
      break;
    case CUPTI_CB_DOMAIN_STATE:
      note_cupti_state(*thread, cbid, data);
      break;
    default:
      break;
  }
  thread->entry = 0;
  errno = saved;
}

}  // namespace capgate::preload
