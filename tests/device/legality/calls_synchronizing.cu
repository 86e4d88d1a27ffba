// Waits, queries and events.
#include "cell.h"

namespace legality {

std::vector<Call> synchronizing_calls() {
  const char* wait = "wait";
  const char* query = "query";
  const char* event = "event";
  return {
      {wait, "cudaStreamSynchronize(captured)",
       [](Things& t) -> int { return cudaStreamSynchronize(t.captured); }},
      {wait, "cudaStreamSynchronize(other)", [](Things& t) -> int { return cudaStreamSynchronize(t.other); }},
      {wait, "cudaStreamSynchronize(legacy)",
       [](Things&) -> int { return cudaStreamSynchronize(cudaStreamLegacy); }},
      {wait, "cudaDeviceSynchronize", [](Things&) -> int { return cudaDeviceSynchronize(); }},
      {wait, "cuCtxSynchronize", [](Things&) -> int { return cuCtxSynchronize(); }},
      {wait, "cudaEventSynchronize(before)", [](Things& t) -> int { return cudaEventSynchronize(t.before); }},
      {wait, "cudaEventSynchronize(inside)", [](Things& t) -> int { return cudaEventSynchronize(t.inside); }},
      {wait, "cudaEventSynchronize(fresh)", [](Things& t) -> int { return cudaEventSynchronize(t.fresh); }},
      {query, "cudaStreamQuery(captured)", [](Things& t) -> int { return cudaStreamQuery(t.captured); }},
      {query, "cudaStreamQuery(other)", [](Things& t) -> int { return cudaStreamQuery(t.other); }},
      {query, "cudaStreamQuery(legacy)", [](Things&) -> int { return cudaStreamQuery(cudaStreamLegacy); }},
      {query, "cudaEventQuery(before)", [](Things& t) -> int { return cudaEventQuery(t.before); }},
      {query, "cudaEventQuery(inside)", [](Things& t) -> int { return cudaEventQuery(t.inside); }},
      {query, "cudaEventElapsedTime(before)",
       [](Things& t) -> int {
         float ms = 0;
         return cudaEventElapsedTime(&ms, t.before, t.before2);
       }},
      {query, "cudaEventElapsedTime(inside)",
       [](Things& t) -> int {
         float ms = 0;
         return cudaEventElapsedTime(&ms, t.before, t.inside);
       }},
      {event, "cudaEventRecord(captured)",
       [](Things& t) -> int { return cudaEventRecord(t.fresh, t.captured); }},
      {event, "cudaEventRecord(other)", [](Things& t) -> int { return cudaEventRecord(t.fresh, t.other); }},
      {event, "cudaEventRecord(legacy)",
       [](Things& t) -> int { return cudaEventRecord(t.fresh, cudaStreamLegacy); }},
      {event, "cudaEventRecord(captured, external)",
       [](Things& t) -> int {
         return cudaEventRecordWithFlags(t.fresh, t.captured, cudaEventRecordExternal);
       }},
      {event, "cudaStreamWaitEvent(captured, before)",
       [](Things& t) -> int { return cudaStreamWaitEvent(t.captured, t.before, 0); }},
      {event, "cudaStreamWaitEvent(captured, before, external)",
       [](Things& t) -> int { return cudaStreamWaitEvent(t.captured, t.before, cudaEventWaitExternal); }},
      {event, "cudaStreamWaitEvent(captured, fresh)",
       [](Things& t) -> int { return cudaStreamWaitEvent(t.captured, t.fresh, 0); }},
      {event, "cudaStreamWaitEvent(other, inside), no join",
       [](Things& t) -> int { return cudaStreamWaitEvent(t.other, t.inside, 0); }},
      {event, "cudaStreamWaitEvent(other, inside), work, no join",
       [](Things& t) -> int {
         if (const cudaError_t result = cudaStreamWaitEvent(t.other, t.inside, 0)) return result;
         touch<<<1, 1, 0, t.other>>>(t.device);
         return cudaGetLastError();
       }},
      {event, "cudaStreamWaitEvent(other, inside), work, join",
       [](Things& t) -> int {
         if (const cudaError_t result = cudaStreamWaitEvent(t.other, t.inside, 0)) return result;
         touch<<<1, 1, 0, t.other>>>(t.device);
         if (const cudaError_t result = cudaEventRecord(t.fresh, t.other)) return result;
         return cudaStreamWaitEvent(t.captured, t.fresh, 0);
       }},
      {event, "cudaStreamWaitEvent(legacy, inside)",
       [](Things& t) -> int { return cudaStreamWaitEvent(cudaStreamLegacy, t.inside, 0); }},
  };
}

}  // namespace legality
