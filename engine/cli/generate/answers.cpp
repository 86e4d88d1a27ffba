#include "engine/cli/generate/answers.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

namespace dsv4::cli {

void Answers::end(int request, Arrival arrival) {
  using Json = nlohmann::ordered_json;
  const auto at = static_cast<std::size_t>(request);
  const Prompt& prompt = prompts_.of[at];
  Json answer;
  answer["line"] = prompt.line;
  if (!prompt.id.empty()) answer["id"] = Json::parse(prompt.id);
  answer["ids"] = tokens_[at];
  if (prompt.text) answer["text"] = prompts_.tokenizer->decode(tokens_[at]);
  answer["end"] = arrival == Arrival::kStop ? "stop" : "length";
  // A character whose last tokens did not come is no UTF-8.
  fmt::print("{}\n", answer.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::fflush(stdout);
  tokens_[at] = {};
}

}  // namespace dsv4::cli
