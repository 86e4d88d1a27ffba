// An expression as a person would name it in a message.
#pragma once

#include <string>
#include <utility>

#include "static_checks/ir/program.h"

namespace capgate::lint {

// "config->stream", "w[]"; empty for what has no short name.
std::string text_of(const Program& program, const Node* n);

// A condition in full: "level > 2 && !ready"; what has no short name is "…".
std::string condition_text(const Program& program, const Node* n);

// The same of what is compared, "ready" of `!ready`; false: it is negated.
std::pair<std::string, bool> without_negation(const Program& program, const Node* condition);

}  // namespace capgate::lint
