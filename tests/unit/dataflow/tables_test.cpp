#include "static_checks/sources/tables.h"

#include <gtest/gtest.h>

namespace capgate::lint {
namespace {

Tables builtin() {
  Tables tables;
  for (const auto& [name, text] : builtin_tables()) {
    const auto added = tables.add(text, name);
    EXPECT_TRUE(added.ok()) << (added.ok() ? "" : added.error());
  }
  return tables;
}

TEST(Tables, BuiltinTablesAreGood) {
  const Tables tables = builtin();
  ASSERT_NE(tables.find("cudaMemcpyAsync"), nullptr);
  EXPECT_EQ(tables.find("cudaMemcpyAsync")->stream, 4);
  EXPECT_TRUE(tables.find("cudaMemcpyAsync")->async);
  EXPECT_EQ(tables.find("std::vector::size"), nullptr);
}

TEST(Tables, VersionsAndStreamSuffixesAreTheSameFunction) {
  const Tables tables = builtin();
  for (const char* name : {"cuMemcpyDtoH_v2", "cuMemcpyDtoHAsync_v2_ptsz", "cudaMemcpyAsync_ptsz",
                           "cublasSdot_v2", "cublasSdot_v2_64", "cublasSgemm_v2", "cuStreamBeginCapture_v2"})
    EXPECT_NE(tables.find(name), nullptr) << name;
  EXPECT_EQ(tables.find("cublasLtMatmul"), nullptr);
  EXPECT_EQ(tables.find("my_copy_v2"), nullptr);
}

TEST(Tables, AUsersEntryWins) {
  Tables tables = builtin();
  const auto added = tables.add(
      R"({"functions": [{"names": ["store::read", "cudaMemcpy"], "is": "source", "returns": true}]})",
      "mine.json");
  ASSERT_TRUE(added.ok());
  EXPECT_EQ(tables.find("store::read")->is, Is::source);
  EXPECT_EQ(tables.find("cudaMemcpy")->is, Is::source);
}

TEST(Tables, EachMistakeIsOneSentenceThatNamesThePlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"{", "mine.json: not valid JSON"},
      {"[]", "mine.json: a table of sources needs a list \"functions\""},
      {R"({"functions": [3]})", "mine.json: entry 1 is not an object"},
      {R"({"functions": [{"names": ["f"]}]})", R"(mine.json: entry 1 needs "names" and "is")"},
      {R"({"functions": [{"names": "f", "is": "source"}]})", "mine.json: entry 1: \"names\" is not a list"},
      {R"({"functions": [{"names": ["f"], "is": "sauce"}]})",
       R"(mine.json: entry 1: "is": "sauce" is not understood)"},
      {R"({"functions": [{"names": ["f"], "is": "copy", "dst": "0"}]})",
       R"(mine.json: entry 1: "dst": "0" is not understood)"},
  };
  for (const auto& [text, wanted] : cases) {
    Tables tables;
    const auto added = tables.add(text, "mine.json");
    ASSERT_FALSE(added.ok()) << text;
    EXPECT_EQ(added.error(), wanted);
  }
}

}  // namespace
}  // namespace capgate::lint
