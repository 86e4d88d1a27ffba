// Asks for the reply of every unit, from the cache or a worker, and again for those of which more is known
// then.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "static_checks/cache/cache.h"
#include "static_checks/driver/explained.h"
#include "static_checks/driver/lint.h"
#include "static_checks/driver/plan.h"
#include "static_checks/driver/report_builder.h"
#include "static_checks/driver/settings.h"
#include "static_checks/worker/job.h"

namespace capgate::lint {

class UnitsRun {
 public:
  // `known`: replies that need not be asked for, by command_key.
  UnitsRun(const LintSettings& settings, const Plan& plan, std::map<std::string, Reply> known,
           ReportBuilder& builder, Explained& explained);

  // Hands the replies to the builder.
  LintFigures go();

 private:
  void look_at(const std::vector<size_t>& units);
  bool explains() const;
  // Whether the unit may hold what is to be explained; a result that was kept says nothing of it.
  bool wants_more_than(const Reply& known) const;
  // Units that call a function of another unit of which more is known now than when they were looked at.
  std::vector<size_t> units_with_news();
  void finished(size_t unit, Reply reply);
  void count(const UnitCommand& command, const Reply& reply);

  const LintSettings& settings_;
  const Plan& plan_;
  std::map<std::string, Reply> known_;
  ReportBuilder& builder_;
  Explained& explained_;
  Cache cache_;
  LintFigures figures_;
  std::vector<std::optional<Reply>> replies_;          // by unit
  std::vector<std::vector<CaptureEdge>> known_edges_;  // the same: what it was looked at with
  size_t finished_ = 0;
  bool looked_ = false;  // some result was not in the cache
};

}  // namespace capgate::lint
