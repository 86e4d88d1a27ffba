// Why a run is inconclusive: one reason for one cause, with how often and where it was met.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reports/model/report.h"

namespace capgate::lint {

class Reasons {
 public:
  // One that stands alone; the same again counts once.
  void add(const std::string& text, const std::string& remedy);

  // A source that was not parsed as a whole: `where` is the place that the parser names, or empty.
  void not_parsed(const std::string& source, const std::string& where, const std::string& text,
                  const std::string& remedy);

  struct Gap {
    std::string where;     // "layer.cu:10"
    std::string function;  // empty where `reason` is a sentence of its own
    std::string reason, remedy;
    std::string region;  // that reaches it; empty where the reason names it
  };
  void not_analysed(const Gap& gap);

  // In the order in which the causes were first met.
  std::vector<reports::Reason> list() const;

 private:
  struct Cause {
    enum class Kind : uint8_t { alone, parser, gap } kind = Kind::gap;
    std::string text, remedy;  // of the first
    std::vector<std::string> sources, places, regions;
  };
  Cause& cause(const std::string& key);
  static std::string sentence(const Cause& cause);

  std::vector<Cause> causes_;
  std::map<std::string, size_t> known_;
};

}  // namespace capgate::lint
