#include "static_checks/rules/rule.h"

namespace capgate::lint {

Judgement local_scratch(const ScratchEvent& e) {
  if (e.host_memory)
    return {reports::Severity::error,
            e.receiver + " keeps the address of the local '" + e.object + "', which is gone at replay",
            {{"memory", "host"}}};
  return {
      e.frees ? reports::Severity::error : reports::Severity::warning,
      e.receiver + " uses memory of the local '" + e.object + "', which gives it back before the graph runs"};
}

}  // namespace capgate::lint
