#include "engine/checkpoint/safetensors.h"

#include <gtest/gtest.h>

#include <ostream>

#include "tests/unit/engine/safetensors_bytes.h"

namespace dsv4 {
namespace {

using test::safetensors_bytes;

std::string error_of(const std::vector<std::byte>& file) {
  const auto parsed = parse_safetensors(file, "f");
  return parsed ? "" : parsed.error();
}

std::string error_of(const std::string& header, std::size_t data) {
  return error_of(safetensors_bytes(header, data));
}

TEST(Safetensors, ReadsTensorsAndMetadata) {
  const auto file = safetensors_bytes(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"BF16","shape":[2,3],"data_offsets":[8,20]},)"
      R"("a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},"none":{"dtype":"F32","shape":[0,4],"data_offsets":[20,20]}})",
      20);
  const auto parsed = parse_safetensors(file, "f");
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(parsed->metadata.at("format"), "pt");
  ASSERT_EQ(parsed->tensors.size(), 3u);
  const TensorView& b = parsed->tensors.at("b");
  EXPECT_EQ(b.dtype, DType::kBf16);
  EXPECT_EQ(b.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(b.bytes, 12u);
  EXPECT_EQ(b.data, file.data() + file.size() - 12);
}

TEST(Safetensors, EveryTypeOfTheSpecificationIsKnown) {
  for (const char* name : {"F32", "BF16", "F16", "F8_E4M3", "F8_E8M0", "I8", "I32", "I64"}) {
    const auto dtype = dtype_from_name(name);
    ASSERT_TRUE(dtype) << name;
    EXPECT_STREQ(dtype_name(*dtype), name);
  }
  EXPECT_FALSE(dtype_from_name("F64"));
}

struct Hostile {
  const char* what;
  const char* header;
  std::size_t data;
  const char* error;
};
void PrintTo(const Hostile& it, std::ostream* out) {
  *out << it.what;
}

class HostileHeader : public testing::TestWithParam<Hostile> {};

TEST_P(HostileHeader, IsRefusedInOneSentence) {
  const std::string error = error_of(GetParam().header, GetParam().data);
  EXPECT_NE(error.find(GetParam().error), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  EXPECT_EQ(error.rfind("f:", 0), 0u) << error;
}

INSTANTIATE_TEST_SUITE_P(
    All, HostileHeader,
    testing::Values(
        Hostile{"beyond", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 7,
                "lies at bytes 0 to 8 of 7"},
        Hostile{"backwards", R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[8,0]}})", 8,
                "lies at bytes 8 to 0"},
        Hostile{"short", R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8,
                "8 bytes where F32 [3] needs 12"},
        Hostile{"overflow", R"({"a":{"dtype":"F32","shape":[4294967296,4294967296,2],"data_offsets":[0,0]}})",
                0, "does not fit in memory"},
        Hostile{"overflow_by_type",
                R"({"a":{"dtype":"I64","shape":[2305843009213693952],"data_offsets":[0,0]}})", 0,
                "does not fit in memory"},
        Hostile{"huge_dim", R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,0]}})", 0,
                "in its shape"},
        Hostile{"negative_dim", R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}})", 0,
                "-1 in its shape"},
        Hostile{"real_dim", R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4,
                "1.5 in its shape"},
        Hostile{"nine_dims", R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})", 4,
                "not a list of at most 8"},
        Hostile{
            "overlap",
            R"({"a":{"dtype":"I8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"I8","shape":[4],"data_offsets":[2,6]}})",
            6, "tensors overlap"},
        Hostile{
            "gap",
            R"({"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"I8","shape":[2],"data_offsets":[4,6]}})",
            6, "a gap"},
        Hostile{"trailing", R"({"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]}})", 5, "3 bytes follow"},
        Hostile{"unknown_type", R"({"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})", 8,
                "unsupported type \"F64\""},
        Hostile{"type_is_number", R"({"a":{"dtype":3,"shape":[1],"data_offsets":[0,8]}})", 8,
                "dtype that is not a string"},
        Hostile{"no_offsets", R"({"a":{"dtype":"I8","shape":[1]}})", 1,
                "exactly dtype, shape and data_offsets"},
        Hostile{"extra_key", R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1],"x":1}})", 1,
                "exactly dtype"},
        Hostile{"not_object", R"({"a":5})", 0, "not described by an object"},
        Hostile{"list", R"([1])", 0, "not a JSON object"},
        Hostile{"metadata_number", R"({"__metadata__":{"x":1}})", 0, "something else than strings"},
        Hostile{
            "twice",
            R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}})",
            1, "\"a\" appears twice"},
        Hostile{"not_json", R"({"a":)", 0, "not valid JSON"},
        Hostile{"empty_header", "", 0, "not valid JSON"}),
    [](const auto& hostile) { return hostile.param.what; });

TEST(Safetensors, DeepNestingIsRefusedBeforeItIsParsed) {
  const std::string deep = "{\"a\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  EXPECT_NE(error_of(deep, 0).find("nested deeper than 64"), std::string::npos);
}

TEST(Safetensors, HeaderLengthIsNotBelieved) {
  std::vector<std::byte> file(16);
  EXPECT_NE(error_of(std::vector<std::byte>(5)).find("5 bytes are too few"), std::string::npos);
  std::uint64_t size = 9;
  std::memcpy(file.data(), &size, 8);
  EXPECT_NE(error_of(file).find("truncated in the header"), std::string::npos);
  size = ~std::uint64_t{0};
  std::memcpy(file.data(), &size, 8);
  EXPECT_NE(error_of(file).find("over the limit"), std::string::npos);
}

TEST(Safetensors, ATruncatedFileIsRefusedAtEveryLength) {
  const auto whole = safetensors_bytes(R"({"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})", 16);
  ASSERT_EQ(error_of(whole), "");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_NE(error_of(part), "") << size;
  }
}

TEST(Safetensors, MissingFileAndDirectoryAreNamed) {
  EXPECT_NE(SafetensorsFile::open("/nonexistent/x").error().find("/nonexistent/x: cannot be opened"),
            std::string::npos);
  EXPECT_NE(SafetensorsFile::open("/").error().find("not a regular file"), std::string::npos);
}

}  // namespace
}  // namespace dsv4
