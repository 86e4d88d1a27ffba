// Tokenizers of the structure that DeepSeek's have (tokenizer_json.py makes the same for the command).
#include "engine/tokenizer/tokenizer.h"

#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>

#include "engine/tokenizer/byte_alphabet.h"
#include "engine/weights/generator.h"

namespace dsv4 {
namespace {

using nlohmann::json;

constexpr char kDigits[] = R"(\p{N}{1,3})";
constexpr char kKana[] = "[一-龥\u3040-ゟ゠-ヿ]+";
constexpr char kWords[] =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

std::string utf8(char32_t c) {
  std::string out;
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
  } else {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
  }
  out += static_cast<char>(0x80 | (c & 0x3F));
  return out;
}

// Byte tokens 0 to 255, then what the merges make, then added tokens.
json file(const std::vector<std::pair<std::string, std::string>>& merges,
          const std::vector<std::pair<std::string, bool>>& added = {}) {
  json vocabulary = json::object(), pairs = json::array(), tokens = json::array();
  const auto alphabet = byte_alphabet();
  int next = 0;
  for (const char32_t c : alphabet) vocabulary[utf8(c)] = next++;
  for (const auto& [left, right] : merges) {
    if (!vocabulary.contains(left + right)) vocabulary[left + right] = next++;
    pairs.push_back(left + " " + right);
  }
  for (const auto& [text, special] : added)
    tokens.push_back({{"id", next++}, {"content", text}, {"special", special}, {"normalized", !special}});
  json split = json::array();
  for (const char* pattern : {kDigits, kKana, kWords})
    split.push_back(
        {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
  split.push_back({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}});
  return {{"normalizer", {{"type", "Sequence"}, {"normalizers", json::array()}}},
          {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", split}}},
          {"decoder", {{"type", "ByteLevel"}}},
          {"added_tokens", tokens},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", pairs}, {"unk_token", nullptr}}}};
}

Tokenizer tokenizer(const json& it) {
  auto made = Tokenizer::parse(it.dump(), "tokenizer.json");
  EXPECT_TRUE(made.ok()) << (made ? "" : made.error());
  return std::move(*made);
}

// Each token's bytes, in brackets.
std::string shown(const Tokenizer& t, const std::string& text) {
  const auto ids = t.encode(text);
  EXPECT_TRUE(ids.ok()) << (ids ? "" : ids.error());
  std::string out;
  for (const int id : *ids) out += "[" + std::string(t.bytes(id)) + "]";
  return out;
}

std::string pieces(const std::string& text) {
  std::vector<std::string> words = {text};
  for (const char* pattern : {kDigits, kKana, kWords}) {
    const auto split = SplitPattern::regex(pattern);
    EXPECT_TRUE(split.ok());
    std::vector<std::string> next;
    for (const auto& word : words) {
      const auto cut = split->split(word);
      EXPECT_TRUE(cut.ok());
      next.insert(next.end(), cut->begin(), cut->end());
    }
    words = std::move(next);
  }
  std::string out;
  for (const auto& word : words) out += "[" + word + "]";
  return out;
}

TEST(Tokenizer, CutsTextAsThePatternsSay) {
  EXPECT_EQ(pieces("hello world"), "[hello][ world]");
  EXPECT_EQ(pieces("12345 6"), "[123][45][ ][6]");
  EXPECT_EQ(pieces("it's  fine"), "[it]['s][ ][ fine]");
  EXPECT_EQ(pieces("a.b(c)"), "[a][.b][(c][)]");
  EXPECT_EQ(pieces("東京タワーtower"), "[東京タワー][tower]");
  EXPECT_EQ(pieces("x = y;\n\n  z"), "[x][ =][ y][;\n\n][ ][ z]");
  EXPECT_EQ(pieces("end \r\n\tnext"), "[end][ \r\n][\tnext]");
  EXPECT_EQ(pieces("naïve Straße Ёлка"), "[naïve][ Straße][ Ёлка]");
  EXPECT_EQ(pieces("e\u0301te\u0301"), "[e\u0301te\u0301]");  // combining marks stay with their letters
  EXPECT_EQ(pieces("٣٤٥٦"), "[٣٤٥][٦]");                      // digits of another script
  EXPECT_EQ(pieces("a\u00A0b\u3000 c"), "[a][\u00A0b][\u3000][ c]");  // spaces that ASCII does not know
  EXPECT_EQ(pieces("…! ok"), "[…!][ ok]");
  EXPECT_EQ(pieces("trailing   "), "[trailing][   ]");
  EXPECT_EQ(pieces("😀👍"), "[😀👍]");
}

TEST(Tokenizer, MergesByRankAndFromTheLeft) {
  const Tokenizer t = tokenizer(file({{"l", "l"},
                                      {"h", "e"},
                                      {"he", "ll"},
                                      {"hell", "o"},
                                      {"b", "c"},
                                      {"a", "b"},
                                      {"x", "x"},
                                      {"xx", "xx"},
                                      {"Ġ", "h"}}));
  EXPECT_EQ(shown(t, "hello"), "[hello]");
  EXPECT_EQ(shown(t, "help"), "[he][l][p]");
  EXPECT_EQ(shown(t, "abc"), "[a][bc]");  // b c is older than a b
  EXPECT_EQ(shown(t, "abab"), "[ab][ab]");
  EXPECT_EQ(shown(t, "xxx"), "[xx][x]");
  EXPECT_EQ(shown(t, "xxxxx"), "[xxxx][x]");
  EXPECT_EQ(shown(t, "x hello"), "[x][ ][hello]");  // h e comes before Ġ h
  EXPECT_EQ(shown(t, "x hhello"), "[x][ h][hello]");
  EXPECT_EQ(shown(t, ""), "");
}

// The queue against the definition: the lowest rank anywhere, the leftmost of its places, again and again.
TEST(Tokenizer, EqualsTheDefinitionOfItsMerges) {
  const std::uint64_t key = mix64(5);
  std::uint64_t next = 0;
  const auto below = [&](int n) {
    return static_cast<int>(element_bits(key, next++) % static_cast<std::uint64_t>(n));
  };
  for (int round = 0; round < 200; ++round) {
    BytePairs pairs;
    for (int byte = 0; byte < 256; ++byte) pairs.byte_tokens[static_cast<std::size_t>(byte)] = byte;
    std::vector<int> tokens = {'a', 'b', 'c'};
    int rank = 0;
    for (int i = 0; i < 12; ++i) {
      const int left = tokens[static_cast<std::size_t>(below(static_cast<int>(tokens.size())))];
      const int right = tokens[static_cast<std::size_t>(below(static_cast<int>(tokens.size())))];
      if (!pairs.merges.emplace(BytePairs::pair(left, right), BytePairs::Merge{rank, 256 + i}).second)
        continue;
      ++rank;
      tokens.push_back(256 + i);
    }
    for (int word = 0; word < 20; ++word) {
      std::string text;
      for (int i = below(40); i > 0; --i) text += static_cast<char>('a' + below(3));
      std::vector<int> wanted(text.begin(), text.end()), got;
      for (;;) {
        int best = -1;
        BytePairs::Merge merge{};
        for (std::size_t i = 0; i + 1 < wanted.size(); ++i) {
          const auto it = pairs.merges.find(BytePairs::pair(wanted[i], wanted[i + 1]));
          if (it == pairs.merges.end() || (best >= 0 && it->second.rank >= merge.rank)) continue;
          best = static_cast<int>(i);
          merge = it->second;
        }
        if (best < 0) break;
        wanted[static_cast<std::size_t>(best)] = merge.token;
        wanted.erase(wanted.begin() + best + 1);
      }
      pairs.encode(text, got);
      ASSERT_EQ(got, wanted) << text;
    }
  }
}

TEST(Tokenizer, EveryByteComesBack) {
  const Tokenizer t = tokenizer(file({{"Ã", "©"}, {"Ġ", "t"}}));
  std::string all;
  for (char32_t c = 1; c < 0xD800; c += 7) all += utf8(c);
  all += "😀 été\n the end";
  const auto ids = t.encode(all);
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(t.decode(*ids), all);
  EXPECT_EQ(shown(t, "é"), "[é]");
  EXPECT_EQ(shown(t, "ê"), "[\xC3][\xAA]");
}

TEST(Tokenizer, AddedTokensAreFoundInTheText) {
  const Tokenizer t =
      tokenizer(file({{"t", "h"}}, {{"<think>", false}, {"<think>er", false}, {"<｜User｜>", true}}));
  const auto ids = t.encode("a<｜User｜>th<think>er<think><thin");
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(*ids, (std::vector<int>{'a' - 0, 259, 256, 258, 257, '<', 256, 'i', 'n'}));
  EXPECT_EQ(t.decode(*ids), "ath<think>er<think><thin");  // a special token has no text
  EXPECT_EQ(t.bytes(-1), "");
  EXPECT_EQ(t.bytes(1 << 20), "");
}

TEST(Tokenizer, TakesBothFormsOfMergesAndWholeWords) {
  json it = file({{"a", "b"}, {"ab", "c"}});
  it["model"]["merges"] = json::array({json::array({"a", "b"}), json::array({"ab", "c"})});
  EXPECT_EQ(shown(tokenizer(it), "abc"), "[abc]");
  it["model"]["merges"] = json::array();
  EXPECT_EQ(shown(tokenizer(it), "abc"), "[a][b][c]");
  it["model"]["ignore_merges"] = true;
  EXPECT_EQ(shown(tokenizer(it), "abc"), "[abc]");
  it = file({});
  it["normalizer"] = nullptr;
  it["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  EXPECT_EQ(shown(tokenizer(it), "ab").size(), 6u);
}

TEST(Tokenizer, LongTextTakesNoLongerThanItsLength) {
  const Tokenizer t = tokenizer(file({{"a", "a"}, {"aa", "aa"}, {"Ġ", "Ġ"}, {"ĠĠ", "ĠĠ"}}));
  // Processor time, which no other program takes, of a text and of one ten times as long.
  const auto seconds = [&](size_t length, char c) {
    const std::string text(length, c);
    const std::clock_t start = std::clock();
    const auto ids = t.encode(text);
    EXPECT_TRUE(ids.ok() && t.decode(*ids) == text) << "'" << c << "'";
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  for (const char c : {'a', ' ', '\n', '7', '!'})
    EXPECT_LT(seconds(300000, c), 40 * seconds(30000, c) + 0.05) << "'" << c << "'";
}

TEST(Tokenizer, RefusesWhatItDoesNotKnowInOneSentence) {
  struct Case {
    const char* what;
    std::function<void(json&)> change;
  };
  const json split_without = {{"type", "Split"}, {"behavior", "Isolated"}};
  const std::vector<Case> cases = {
      {"the normalizer is NFC", [](json& j) { j["normalizer"] = {{"type", "NFC"}}; }},
      {"the pre_tokenizer is Metaspace", [](json& j) { j["pre_tokenizer"] = {{"type", "Metaspace"}}; }},
      {"the pre_tokenizer is nothing", [](json& j) { j["pre_tokenizer"] = nullptr; }},
      {"has no step ByteLevel", [](json& j) { j["pre_tokenizer"]["pretokenizers"].erase(3); }},
      {"after ByteLevel",
       [](json& j) { j["pre_tokenizer"]["pretokenizers"].push_back({{"type", "Digits"}}); }},
      {"adds a space", [](json& j) { j["pre_tokenizer"]["pretokenizers"][3]["add_prefix_space"] = true; }},
      {"\"Removed\"", [](json& j) { j["pre_tokenizer"]["pretokenizers"][0]["behavior"] = "Removed"; }},
      {"inverted", [](json& j) { j["pre_tokenizer"]["pretokenizers"][0]["invert"] = true; }},
      {"without a pattern", [&](json& j) { j["pre_tokenizer"]["pretokenizers"][0] = split_without; }},
      {"is not understood at character",
       [](json& j) { j["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {{"Regex", "(a"}}; }},
      {"the decoder is Metaspace", [](json& j) { j["decoder"] = {{"type", "Metaspace"}}; }},
      {"the model is Unigram", [](json& j) { j["model"]["type"] = "Unigram"; }},
      {"the model is nothing", [](json& j) { j.erase("model"); }},
      {"falls back to bytes", [](json& j) { j["model"]["byte_fallback"] = true; }},
      {"end_of_word_suffix", [](json& j) { j["model"]["end_of_word_suffix"] = "</w>"; }},
      {"no vocab or no merges", [](json& j) { j["model"]["vocab"] = 3; }},
      {"has no token for the byte 0x41", [](json& j) { j["model"]["vocab"].erase("A"); }},
      {"has the id -1", [](json& j) { j["model"]["vocab"]["A"] = -1; }},
      {"has the id 99999999999", [](json& j) { j["model"]["vocab"]["A"] = 99999999999; }},
      {"merge 0 is \"ab\", which is no pair", [](json& j) { j["model"]["merges"] = {"ab"}; }},
      {"names a token that the vocab does not have", [](json& j) { j["model"]["merges"] = {"q z"}; }},
      {"added_tokens is not a list", [](json& j) { j["added_tokens"] = 1; }},
      {"an added token is 7", [](json& j) { j["added_tokens"] = {7}; }},
      {"has lstrip",
       [](json& j) { j["added_tokens"] = {{{"id", 300}, {"content", "x"}, {"lstrip", true}}}; }},
      {"is not an object", [](json& j) { j = json::array(); }},
  };
  for (const Case& c : cases) {
    json j = file({{"a", "b"}});
    c.change(j);
    const auto made = Tokenizer::parse(j.dump(), "m/tokenizer.json");
    ASSERT_FALSE(made.ok()) << c.what;
    EXPECT_TRUE(made.error().starts_with("m/tokenizer.json: ")) << made.error();
    EXPECT_NE(made.error().find(c.what), std::string::npos) << c.what << ": " << made.error();
    EXPECT_EQ(made.error().find('\n'), std::string::npos);
  }
  EXPECT_FALSE(Tokenizer::parse("", "t").ok());
  EXPECT_FALSE(Tokenizer::open("/nowhere").ok());
  const auto bad = tokenizer(file({})).encode("ab\xFF");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error(), "the text is not UTF-8 at byte 2");
}

// Any damage to a file is one sentence or another tokenizer, never more.
TEST(Tokenizer, SurvivesDamagedFiles) {
  const std::string text = file({{"a", "b"}, {"ab", "c"}}, {{"<x>", true}}).dump();
  const std::uint64_t key = mix64(9);
  int refused = 0;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    std::string damaged = text;
    const std::uint64_t bits = element_bits(key, i);
    const std::size_t at = bits % damaged.size();
    if (i % 3 == 0)
      damaged.resize(at);
    else if (i % 3 == 1)
      damaged[at] = static_cast<char>(bits >> 32);
    else
      damaged.erase(at, 1 + (bits >> 40) % 40);
    const auto made = Tokenizer::parse(damaged, "t");
    if (made)
      EXPECT_TRUE(made->encode("abc <x> 12").ok());
    else
      ++refused;
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace dsv4
