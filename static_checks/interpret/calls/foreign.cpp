// Another project's functions whose bodies are in sight, in headers: those that come to CUDA are run like the
// user's own, and what is found in them is placed at the user's call.
#include <unordered_set>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

// In a region. One that begins or ends a capture is left alone: where that region would stand is in nobody's
// sources.
bool Interpreter::is_followed(Function& f) {
  return f.foreign && f.has_body && !f.device_only && !f.kernel && s().flow.region && judged() && !s().dead &&
         reaches_cuda(f);
}

bool Questions::reaches_cuda(Function& f) {
  const auto [known, fresh] = reaches_cuda_.try_emplace(&f, false);
  if (!fresh) return known->second;
  constexpr size_t kMaxBodies = 60;
  std::vector<Function*> queue{&f};
  std::unordered_set<const Function*> seen{&f};
  bool reaches = false;
  for (size_t i = 0; i < queue.size() && i < kMaxBodies; ++i) {
    lowering_.lower(*queue[i]);
    std::vector<const Node*> work{queue[i]->body};
    while (!work.empty() && !reaches) {
      const Node* n = work.back();
      work.pop_back();
      if (!n) continue;
      reaches = n->op == Op::launch;
      work.insert(work.end(), n->kids.begin(), n->kids.end());
    }
    for (Function* callee : queue[i]->callees) {
      if (const Api* api = api_of(*callee)) {
        if (api->is == Is::begin_capture || api->is == Is::end_capture) return false;
        reaches = reaches || is_work_or_wait(*api);
      } else if (callee->foreign && callee->has_body && !callee->device_only && seen.insert(callee).second) {
        queue.push_back(callee);
      }
    }
  }
  return reaches_cuda_[&f] = reaches;
}

}  // namespace capgate::lint
