// What a function's returns say of a region that it began and may have left open.
#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

// `result` is what is given back, null for nothing; `at` is where the return stands, in bytes.
void Interpreter::note_return(const Cell* result, uint32_t at) {
  Frame& frame = *frame_;
  note_answer_of_capture(result);
  const uint32_t region = s().flow.region;
  const bool open = region && region != frame.entered.region;
  Returns& returns = open ? frame.with_region : frame.without_region;
  // A state that is left over where a begin was refused has had its region taken away: branch().
  if (result && result->has_constant)
    (result->constant ? returns.truth : returns.falsehood) = true;
  else if (result && (result->tag == Tag::begun || result->tag == Tag::not_begun))
    ((result->tag == Tag::begun) == open ? returns.truth : returns.falsehood) = true;
  else
    returns.unknown = true;
  if (at < frame.last_return) return;
  frame.last_is_open = open && (at > frame.last_return || frame.last_is_open);
  frame.last_return = at;
}

// `if (capturing(s)) return true; … return false;`, and a query whose failure gives false: the result is the
// answer, however many returns there are. A return behind a setting answers another question.
void Interpreter::note_answer_of_capture(const Cell* result) {
  Answers& answers = frame_->of_capture;
  const bool captures_not = s().flow.not_capturing && !frame_->entered.not_capturing;
  const bool after_failure = s().flow.tests == frame_->entered.tests && frame_->loops.empty();
  const Tag tag = result ? result->tag : Tag::none;
  const bool truth = result && result->has_constant && result->constant != 0;
  const bool falsehood = result && result->has_constant && result->constant == 0;
  const bool yes = tag == Tag::is_capturing || tag == Tag::capture_status, no = tag == Tag::not_capturing;
  const bool harmless = captures_not || after_failure;
  answers.falsehood_tells = answers.falsehood_tells && (yes || truth || (falsehood && harmless));
  answers.truth_tells = answers.truth_tells && (no || falsehood || (truth && harmless));
  answers.falsehood = answers.falsehood || yes || (falsehood && captures_not);
  answers.truth = answers.truth || no || (truth && captures_not);
}

Tag Interpreter::answer_of_capture() const {
  const Answers& answers = frame_->of_capture;
  if (answers.falsehood && answers.falsehood_tells) return Tag::is_capturing;
  if (answers.truth && answers.truth_tells) return Tag::not_capturing;
  return Tag::none;
}

// By which result a caller knows that no region was left open.
Tag Interpreter::tag_of_returns() const {
  const Returns& with = frame_->with_region;
  if (!frame_->without_region.any()) return Tag::none;
  if (with.only_true()) return Tag::begun;
  if (with.only_false()) return Tag::not_begun;
  return Tag::none;
}

// A function that ends the region that it began, and only gets out of it early where something failed: its
// callers go on without one. What gives back success with the region open, or comes to its last return with
// it, is there to begin it.
bool Interpreter::leaves_open_on_failure() const {
  const Frame& frame = *frame_;
  if (!frame.ended || !frame.with_region.any()) return false;
  const Type* type = frame.function->result;
  const Shape shape = type ? type->shape : Shape::other;
  if ((shape == Shape::boolean || shape == Shape::pointer) && frame.with_region.only_true()) return false;
  if (shape == Shape::enumeration && frame.with_region.only_false()) return false;
  // Zero with the region open and zero without: that is no failure.
  if (shape == Shape::scalar && frame.with_region.only_false() && frame.without_region.only_false())
    return false;
  return !frame.last_is_open;
}

}  // namespace capgate::lint
