// The rule catalogue as code. Its only source is rules.toml, from which the build makes the table and
// docs/rules/.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace capgate::reports {

// What a capture of the fault comes to: CUDA refuses it and the capture dies, or it captures and the graph is
// not the step.
enum class IfCaptured { dies, wrong, neither };

struct Rule {
  std::string_view id;
  std::string_view title;      // a few words: "the host waits for the device"
  std::string_view fault;      // what is judged, one paragraph
  std::string_view why;        // why it bites, one or more paragraphs
  std::string_view in_region;  // the severity inside a capture or a marked region, in words
  std::string_view a_step;     // the severity once per step, between two launches of one graph, in words
  std::string_view hint;       // the fix in one line: the default hint of a violation
  std::string_view fix;        // how to fix it, one or more paragraphs
  std::string_view language;   // of the example: cpp | python
  std::string_view bad, good;  // the example
  std::span<const std::string_view> seen_by;  // runtime | static | engine
  std::span<const std::string_view> related;  // ids
  IfCaptured if_captured;
  std::string_view graph;   // what follows "it captures, but": "lacks the copy"; may be empty for what dies
  std::string_view status;  // empty | planned: nothing raises it
  std::string_view status_text;                    // the sentence that opens its page
  std::span<const std::string_view> former_hints;  // what reports of older versions say as the fix
  std::string_view heading;  // where it is, {capture} for the name; empty: "in" its capture, step or graph
  std::string_view cost;     // where no step was measured, {times} for how often; empty: as of most rules
  bool could;                // a graph that has it need not be wrong: the memory may live as long as it does
};

// In the catalogue's order.
std::span<const Rule> rules();

// Null when no rule has that id.
const Rule* find_rule(std::string_view id);

// The place in the catalogue; unknown rules come after all others.
size_t rule_order(std::string_view id);

// Ids that somebody may have meant, best first, at most three.
std::vector<std::string_view> near_rules(std::string_view word);

// Those of `known` that are like the word, best first, at most three.
std::vector<std::string_view> near_names(std::string_view word, std::span<const std::string_view> known);

// `; did you mean host-sync or host-poll?`, empty where there is nothing to suggest.
std::string suggestion(const std::vector<std::string_view>& near);

// `unknown rule "host-snyc"; did you mean host-sync?`
std::string unknown_rule(std::string_view word);

}  // namespace capgate::reports
