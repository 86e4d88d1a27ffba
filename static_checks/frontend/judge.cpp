#include "static_checks/frontend/judge.h"

#include <algorithm>
#include <string_view>

#include "base/counted.h"
#include "static_checks/frontend/functions.h"
#include "static_checks/frontend/tree.h"

namespace capgate::lint {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

bool is_missing_file(const std::string& message) {
  return contains(message, "file not found") || contains(message, "cannot open file") ||
         contains(message, "error opening file") || contains(message, "error reading");
}

// gcc takes `p + n` of a pointer to void in C++ too, and warns. clang keeps both operands in the tree.
bool is_taken_by_gcc(const std::string& message) {
  return message.starts_with("arithmetic on a pointer to void") ||
         message.starts_with("arithmetic on pointers to void");
}

// An instantiation that failed in a header: the place in the user's code that asked for it, from the notes.
Spot asked_from(const Tree& tree, const ParserError& error) {
  for (const ParserError& note : error.notes)
    if (contains(note.text, "requested here") && tree.is_user(note.at)) return tree.spot(note.at);
  return {};
}

class Judge {
 public:
  explicit Judge(ParsedUnit& parsed) : parsed_(parsed), unit_(*parsed.unit), tree_(*parsed.unit->tree) {}

  void run(const std::vector<ParserError>& errors) {
    for (const ParserError& error : errors) one(error);
    // What a header that is not there would have declared explains the errors that follow from it.
    if (missing_file_) {
      std::erase_if(parsed_.incomplete,
                    [](const Incomplete& reason) { return !is_missing_file(reason.text); });
    } else if (parsed_.incomplete.size() > kShownErrors) {
      const size_t more = parsed_.incomplete.size() - kShownErrors;
      parsed_.incomplete.resize(kShownErrors);
      parsed_.incomplete.back().text += " (and " + counted(more, "more error") + " outside functions)";
    }
  }

 private:
  void one(const ParserError& error) {
    if (is_taken_by_gcc(error.text)) return;
    Spot at = tree_.spot(error.at);
    if (!at.file) {
      incomplete(at, error.text, "check the unit's compile command");
    } else if (is_missing_file(error.text)) {
      missing_file_ = true;
      incomplete(at, error.text, "build once if the header is generated, else give its folder: -- -I DIR");
    } else if (contains(error.text, "nesting level")) {
      incomplete(at, error.text,
                 "the parser went no further: simplify the code there, or leave the file out");
    } else {
      if (!tree_.is_user(error.at)) at = asked_from(tree_, error);
      if (at.file)
        in_user_code(at, error.text);
      else
        ++parsed_.errors_in_foreign_code;
    }
  }

  void in_user_code(const Spot& at, const std::string& message) {
    const std::string& path = tree_.path_of(at.file);
    const FunctionExtent* function = enclosing(parsed_.functions, path, at.offset);
    if (!function) {
      incomplete(at, message,
                 "give the file the compile command that builds it: -D and -I decide what clang reads");
    } else if (function->device_only || in_device_lambda(tree_, at)) {
      ++parsed_.errors_in_device_code;
    } else {
      unit_.trouble.push_back({path, static_cast<unsigned>(tree_.line_of(at)), at.offset, message});
    }
  }

  void incomplete(const Spot& at, const std::string& message, const char* remedy) {
    Incomplete reason;
    if (at.file) reason.place = {tree_.path_of(at.file), tree_.line_of(at), tree_.column_of(at)};
    reason.text = message;
    reason.remedy = remedy;
    // A header that many files of the unit miss is one reason.
    for (const Incomplete& known : parsed_.incomplete)
      if (known.text == message) return;
    parsed_.incomplete.push_back(std::move(reason));
  }

  static constexpr size_t kShownErrors = 3;
  ParsedUnit& parsed_;
  Unit& unit_;
  const Tree& tree_;
  bool missing_file_ = false;
};

}  // namespace

void judge(const std::vector<ParserError>& errors, ParsedUnit& parsed) {
  Judge(parsed).run(errors);
}

}  // namespace capgate::lint
