#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files/read_text.h"
#include "engine/config/json_guard.h"
#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/tokenizer.h"

namespace dsv4 {

using capgate::Error;
using capgate::Result;
using nlohmann::json;

namespace {

// How GPT-2 cuts text; a byte-level pre-tokenizer with `use_regex` does the same.
constexpr char kByteLevelPattern[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr int kMostTokens = 1 << 22;
constexpr std::size_t kMostBytes = 512 << 20;

bool flag(const json& object, const char* key, bool otherwise = false) {
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? otherwise : it->is_boolean() && it->get<bool>();
}

// "Sequence" of `object["type"]`, or "nothing".
std::string type_of(const json& object) {
  if (!object.is_object()) return object.is_null() ? "nothing" : object.dump();
  return object.value("type", json()).is_string() ? object["type"].get<std::string>() : "no type";
}

bool empty_or_null(const json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ||
         (it->is_string() && it->get_ref<const std::string&>().empty());
}

}  // namespace

class TokenizerFile {
 public:
  TokenizerFile(const json& file, const std::string& origin) : file_(file), origin_(origin) {}

  Result<Tokenizer> read() {
    if (!file_.is_object()) return wrong("is not an object");
    for (const auto& part : {&TokenizerFile::normalizer, &TokenizerFile::pre_tokenizer,
                             &TokenizerFile::decoder, &TokenizerFile::model, &TokenizerFile::added_tokens})
      if (auto ok = (this->*part)(); !ok) return Error{ok.error()};
    return std::move(out_);
  }

 private:
  Error wrong(const std::string& what) const { return Error{fmt::format("{}: {}", origin_, what)}; }
  Error unsupported(const std::string& what) const {
    return wrong(
        what +
        ", which this engine does not know (it reads byte-level BPE as DeepSeek's tokenizers have it)");
  }
  const json& at(const char* key) const {
    static const json nothing;
    const auto it = file_.find(key);
    return it == file_.end() ? nothing : *it;
  }

  Result<void> normalizer() {
    const json& it = at("normalizer");
    const bool none = it.is_null() || (type_of(it) == "Sequence" && it.value("normalizers", json()).empty());
    if (!none) return unsupported(fmt::format("the normalizer is {}", type_of(it)));
    return {};
  }

  Result<void> pre_tokenizer() {
    const json& it = at("pre_tokenizer");
    byte_level_ = false;
    if (type_of(it) == "Sequence") {
      const json steps = it.value("pretokenizers", json());
      for (const json& step : steps)
        if (auto ok = pre_tokenizer_step(step); !ok) return ok;
    } else if (auto ok = pre_tokenizer_step(it); !ok) {
      return ok;
    }
    if (!byte_level_) return unsupported("the pre_tokenizer has no step ByteLevel");
    return {};
  }

  Result<void> pre_tokenizer_step(const json& step) {
    const std::string type = type_of(step);
    if (byte_level_) return unsupported(fmt::format("the pre_tokenizer has {} after ByteLevel", type));
    if (type == "ByteLevel") {
      byte_level_ = true;
      if (flag(step, "add_prefix_space", true))
        return unsupported("the pre_tokenizer adds a space before the text");
      return flag(step, "use_regex", true) ? add_pattern(SplitPattern::regex(kByteLevelPattern))
                                           : Result<void>();
    }
    if (type != "Split") return unsupported(fmt::format("the pre_tokenizer is {}", type));
    if (step.value("behavior", json()) != "Isolated" || flag(step, "invert"))
      return unsupported(fmt::format("the pre_tokenizer splits in the way {}{}",
                                     step.value("behavior", json()).dump(),
                                     flag(step, "invert") ? ", inverted" : ""));
    const json pattern = step.value("pattern", json());
    if (pattern.is_object() && pattern.value("Regex", json()).is_string())
      return add_pattern(SplitPattern::regex(pattern["Regex"].get<std::string>()));
    if (pattern.is_object() && pattern.value("String", json()).is_string())
      return add_pattern(SplitPattern::literal(pattern["String"].get<std::string>()));
    return wrong("the pre_tokenizer has a Split without a pattern");
  }

  Result<void> add_pattern(Result<SplitPattern> pattern) {
    if (!pattern) return wrong(pattern.error());
    out_.patterns_.push_back(std::move(*pattern));
    return {};
  }

  Result<void> decoder() {
    if (type_of(at("decoder")) != "ByteLevel")
      return unsupported(fmt::format("the decoder is {}", type_of(at("decoder"))));
    return {};
  }

  Result<void> model() {
    const json& it = at("model");
    // Older files leave the type out where there are merges.
    if (!it.is_object() || (type_of(it) != "BPE" && !(type_of(it) == "no type" && it.contains("merges"))))
      return unsupported(fmt::format("the model is {}", type_of(it)));
    if (flag(it, "byte_fallback")) return unsupported("the model falls back to bytes");
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
      if (!empty_or_null(it, key)) return unsupported(fmt::format("the model has a {}", key));
    const json &vocabulary = it.value("vocab", json()), &merges = it.value("merges", json());
    if (!vocabulary.is_object() || !merges.is_array()) return wrong("the model has no vocab or no merges");
    for (const auto& [text, id] : vocabulary.items())
      if (auto ok = token(text, id); !ok) return ok;
    const auto alphabet = byte_alphabet();
    for (std::size_t byte = 0; byte < alphabet.size(); ++byte) {
      const auto found = by_bytes_.find(std::string(1, static_cast<char>(byte)));
      if (found == by_bytes_.end())
        return wrong(fmt::format("the vocab has no token for the byte {:#04x}", byte));
      out_.pairs_.byte_tokens.at(byte) = found->second;
    }
    for (std::size_t rank = 0; rank < merges.size(); ++rank)
      if (auto ok = merge(merges[rank], static_cast<int>(rank)); !ok) return ok;
    if (flag(it, "ignore_merges")) out_.whole_words_ = by_bytes_;
    return {};
  }

  Result<void> token(const std::string& text, const json& id) {
    if (!id.is_number_integer() || id.get<std::int64_t>() < 0 || id.get<std::int64_t>() >= kMostTokens)
      return wrong(fmt::format("the token \"{}\" has the id {}", text, id.dump()));
    // What is not in the byte alphabet can only be an added token.
    const auto bytes = bytes_of_alphabet(text);
    const int token = id.get<int>();
    place(token).bytes = bytes.value_or(text);
    if (bytes) by_bytes_.emplace(*bytes, token);
    return {};
  }

  Tokenizer::Token& place(int token) {
    if (token >= out_.size()) out_.tokens_.resize(static_cast<std::size_t>(token) + 1);
    return out_.tokens_[static_cast<std::size_t>(token)];
  }

  // "left right", or ["left", "right"].
  Result<void> merge(const json& it, int rank) {
    std::string left, right;
    if (it.is_string()) {
      const auto& text = it.get_ref<const std::string&>();
      const auto space = text.find(' ');
      left = text.substr(0, space);
      if (space != std::string::npos) right = text.substr(space + 1);
    } else if (it.is_array() && it.size() == 2 && it[0].is_string() && it[1].is_string()) {
      left = it[0].get<std::string>();
      right = it[1].get<std::string>();
    }
    const auto a = bytes_of_alphabet(left), b = bytes_of_alphabet(right);
    if (left.empty() || right.empty() || !a || !b)
      return wrong(fmt::format("merge {} is {}, which is no pair of tokens", rank, it.dump()));
    const auto known = [&](const std::string& bytes) {
      const auto found = by_bytes_.find(bytes);
      return found == by_bytes_.end() ? -1 : found->second;
    };
    const int from = known(*a), with = known(*b), to = known(*a + *b);
    if (from < 0 || with < 0 || to < 0)
      return wrong(fmt::format("merge {} ({}) names a token that the vocab does not have", rank, it.dump()));
    out_.pairs_.merges.emplace(BytePairs::pair(from, with), BytePairs::Merge{rank, to});
    return {};
  }

  Result<void> added_tokens() {
    const json& all = at("added_tokens");
    if (!all.is_array() && !all.is_null()) return wrong("added_tokens is not a list");
    for (const json& it : all) {
      if (!it.is_object() || !it.value("content", json()).is_string() ||
          !it.value("id", json()).is_number_integer() || it["id"].get<std::int64_t>() < 0 ||
          it["id"].get<std::int64_t>() >= kMostTokens)
        return wrong(fmt::format("an added token is {}", it.dump()));
      const std::string text = it["content"].get<std::string>();
      if (text.empty()) return wrong("an added token has no text");
      for (const char* key : {"single_word", "lstrip", "rstrip"})
        if (flag(it, key)) return unsupported(fmt::format("the added token \"{}\" has {}", text, key));
      const int id = it["id"].get<int>();
      place(id) = {text, flag(it, "special")};
      out_.added_.push_back({text, id});
    }
    std::ranges::stable_sort(out_.added_,
                             [](const auto& a, const auto& b) { return a.text.size() > b.text.size(); });
    return {};
  }

  const json& file_;
  const std::string& origin_;
  Tokenizer out_;
  bool byte_level_ = false;
  std::unordered_map<std::string, int> by_bytes_;
};

Result<Tokenizer> Tokenizer::parse(std::string_view text, const std::string& origin) {
  auto file = parse_json(text, origin);
  if (!file) return Error{file.error()};
  return TokenizerFile(**file, origin).read();
}

Result<Tokenizer> Tokenizer::open(const std::string& dir) {
  const std::string path = dir + "/tokenizer.json";
  const auto text = capgate::read_file(path, kMostBytes);
  if (!text) return Error{fmt::format("{}; a prompt of text needs the model's tokenizer.json", text.error())};
  return parse(*text, path);
}

}  // namespace dsv4
