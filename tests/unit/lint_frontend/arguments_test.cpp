#include <gtest/gtest.h>

#include <algorithm>

#include "static_checks/commands/clang_arguments.h"
#include "static_checks/commands/shell_words.h"

namespace capgate::lint {
namespace {

using Words = std::vector<std::string>;

TEST(ShellWords, QuotesAndBackslashes) {
  EXPECT_EQ(shell_words("a  'b c'\td\\ e \"f \\\" g\" ''"), (Words{"a", "b c", "d e", "f \" g", ""}));
  EXPECT_EQ(shell_words("-DX=\\\"s\\\" \"a\\b\""), (Words{"-DX=\"s\"", "a\\b"}));
  EXPECT_EQ(shell_words("a \\\n b"), (Words{"a", "b"}));
  EXPECT_TRUE(shell_words("  \n").empty());
}

TEST(ListItems, BackslashKeepsAComma) {
  EXPECT_EQ(list_items("a,b"), (Words{"a", "b"}));
  EXPECT_EQ(list_items("F=f\\,g"), (Words{"F=f,g"}));
}

struct Spelling {
  const char* command;
  Words words;  // what must come out, and nothing else
};

class NvccKeeps : public testing::TestWithParam<Spelling> {};
TEST_P(NvccKeeps, InCanonicalForm) {
  EXPECT_EQ(translate_nvcc(shell_words(GetParam().command)).words, GetParam().words) << GetParam().command;
}
const Spelling kKept[] = {
    {"-Iinc", {"-I", "inc"}},
    {"-I inc", {"-I", "inc"}},
    {"-I=inc", {"-I", "inc"}},
    {"--include-path inc", {"-I", "inc"}},
    {"--include-path=a,b", {"-I", "a", "-I", "b"}},
    {"'-I/with space'", {"-I", "/with space"}},
    {"-isystem /x", {"-isystem", "/x"}},
    {"-isystem=/x", {"-isystem", "/x"}},
    {"--system-include=/x", {"-isystem", "/x"}},
    {"--system-include /x", {"-isystem", "/x"}},
    {"-DA", {"-DA"}},
    {"-D A=1", {"-DA=1"}},
    {"-DA=1,B=2", {"-DA=1", "-DB=2"}},
    {"--define-macro=A=1", {"-DA=1"}},
    {"--define-macro A=1", {"-DA=1"}},
    {"'-DS=\"x y\"'", {"-DS=\"x y\""}},
    {"-UA", {"-UA"}},
    {"-U A", {"-UA"}},
    {"--undefine-macro A", {"-UA"}},
    {"-include f.h", {"-include", "f.h"}},
    {"-include=f.h", {"-include", "f.h"}},
    {"--pre-include f.h", {"-include", "f.h"}},
    {"--extended-lambda", {"-D__CUDACC_EXTENDED_LAMBDA__"}},
    {"-expt-extended-lambda", {"-D__CUDACC_EXTENDED_LAMBDA__"}},
    {"--expt-relaxed-constexpr", {"-D__CUDACC_RELAXED_CONSTEXPR__"}},
    {"-expt-relaxed-constexpr", {"-D__CUDACC_RELAXED_CONSTEXPR__"}},
    {"--use_fast_math", {"-D__USE_FAST_MATH__"}},
    {"-use_fast_math", {"-D__USE_FAST_MATH__"}},
    {"-rdc=true", {"-D__CUDACC_RDC__"}},
    {"--relocatable-device-code true", {"-D__CUDACC_RDC__"}},
    {"-dc", {"-D__CUDACC_RDC__"}},
    {"--no-exceptions", {"-fno-exceptions"}},
    {"-ftemplate-depth 2000", {"-ftemplate-depth=2000"}},
    {"--default-stream per-thread", {"-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"}},
    {"-default-stream=per-thread", {"-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"}},
    {"-Xcompiler -fopenmp", {"-fopenmp"}},
    {"-Xcompiler=-DX=1,-fPIC,-mavx2", {"-DX=1", "-mavx2"}},
    {"--compiler-options -fno-rtti", {"-fno-rtti"}},
    {"--compiler-options=-fno-rtti,-O3", {"-fno-rtti"}},
    {"-Xcompiler '\"-Iq r\"'", {"-I", "q r"}},
    {"-Xcompiler -isystem -Xcompiler /x", {"-isystem", "/x"}},
    {"-pthread -march=native", {"-pthread", "-march=native"}},
};
INSTANTIATE_TEST_SUITE_P(Table, NvccKeeps, testing::ValuesIn(kKept));

// Each is followed by a definition: it must survive, and nothing else may come out. An option whose value is
// not known to be one would leave its value behind as a second source, or swallow what follows.
class NvccDrops : public testing::TestWithParam<const char*> {};
TEST_P(NvccDrops, WithItsValueAndNothingMore) {
  const ClangArguments out = translate_nvcc(shell_words(std::string(GetParam()) + " -DEND a.cu"));
  EXPECT_EQ(out.words, (Words{"-DEND"})) << GetParam();
  EXPECT_FALSE(out.dropped.empty()) << GetParam();
}
INSTANTIATE_TEST_SUITE_P(
    Table, NvccDrops,
    testing::Values("-c", "-o a.o", "--output-file=a.o", "-O3", "-O 3", "--optimize 2", "-G", "-g",
                    "-lineinfo", "-MD", "-MF a.d", "-MT a.o", "-MMD", "-MP", "-Xptxas=-v", "-Xptxas -v,-O3",
                    "--ptxas-options=-v", "-Xcudafe --diag_suppress=20012", "-Xnvlink -x",
                    "-Xlinker --as-needed", "-Xarchive q", "-maxrregcount=64", "-maxrregcount 64",
                    "--threads 4", "--threads=4", "-t4", "-t 4", "--split-compile 2", "-ccbin g++",
                    "-ccbin=g++", "--compiler-bindir /usr/bin/g++", "-Werror all-warnings",
                    "-Werror=all-warnings", "-diag-suppress 177", "--diag-suppress=177", "-diag-error 20",
                    "-lcublas", "-l cublas", "-L/lib", "-L /lib", "-cudart shared", "--cudart=static",
                    "-odir x", "--keep", "--keep-dir k", "-forward-unknown-to-host-compiler", "-Wall",
                    "-fPIC", "--compress-mode=size", "-restrict", "-res-usage", "--ftz=true",
                    "-prec-div false", "--fmad false", "-m64", "--machine 64", "-shared", "-dlto", "-e main",
                    "-Wno-deprecated-gpu-targets", "--frandom-seed=x", "-jtd 0", "-ewp", "--time t.csv",
                    "-Xfatbin -compress-all", "-w", "-pg"));

TEST(NvccArguments, StandardLanguageAndUnknownsStandApart) {
  const ClangArguments out = translate_nvcc(shell_words("--std c++20 -x cu -arch=sm_86"));
  EXPECT_EQ(out.standard, "c++20");
  EXPECT_EQ(out.language, "cuda");
  EXPECT_TRUE(out.words.empty());
  EXPECT_EQ(translate_nvcc({"-std=c++17"}).standard, "c++17");
  EXPECT_EQ(translate_nvcc({"-x=c++"}).language, "c++");
  EXPECT_EQ(translate_nvcc({"-Xcompiler", "-std=c++14"}).standard, "c++14");
  EXPECT_TRUE(translate_nvcc(shell_words("-default-stream per-thread")).per_thread_default_stream);
  EXPECT_TRUE(translate_nvcc({"-DCUDA_API_PER_THREAD_DEFAULT_STREAM"}).per_thread_default_stream);
  EXPECT_FALSE(translate_nvcc(shell_words("-default-stream legacy")).per_thread_default_stream);
}

TEST(NvccArguments, AValueThatIsCutOffIsNotReadBeyondTheEnd) {
  for (const char* option :
       {"-I", "-D", "-o", "-gencode", "-Xcompiler", "--threads", "-include", "-std", "-x"})
    EXPECT_TRUE(translate_nvcc({option}).words.empty()) << option;
  for (const char* option : {"-I", "-D", "-o", "-isystem", "-include", "-x", "-Xpreprocessor", "--sysroot"})
    EXPECT_TRUE(translate_host({option}).words.empty()) << option;
}

struct Arch {
  const char* command;
  const char* clang;
  const char* list;
};
class NvccArch : public testing::TestWithParam<Arch> {};
TEST_P(NvccArch, IsClamped) {
  const ClangArguments out = translate_nvcc(shell_words(GetParam().command));
  EXPECT_EQ(out.arch.clang_name(), GetParam().clang) << GetParam().command;
  EXPECT_EQ(out.arch.arch_list(), GetParam().list) << GetParam().command;
}
INSTANTIATE_TEST_SUITE_P(
    Forms, NvccArch,
    testing::Values(Arch{"", "sm_90", "900"}, Arch{"-arch=native", "sm_90", "900"},
                    Arch{"-arch all", "sm_90", "900"}, Arch{"-arch=sm_80", "sm_80", "800"},
                    Arch{"-gencode arch=compute_75,code=sm_75", "sm_75", "750"},
                    Arch{"--generate-code=arch=compute_90a,code=[compute_90a,sm_90a]", "sm_90a", "900"},
                    Arch{"-gencode=arch=compute_100a,code=sm_100a -gencode arch=compute_80,code=sm_80",
                         "sm_90a", "800,1000"},
                    Arch{"--gpu-architecture compute_120 --gpu-code sm_120", "sm_90a", "1200"},
                    Arch{"-arch=sm_88", "sm_87", "880"}, Arch{"-arch=sm_", "sm_90", "900"}));

class HostKeeps : public testing::TestWithParam<Spelling> {};
TEST_P(HostKeeps, WhatTheFrontEndNeeds) {
  EXPECT_EQ(translate_host(shell_words(GetParam().command)).words, GetParam().words) << GetParam().command;
}
const Spelling kHost[] = {
    {"-Iinc -I inc2", {"-I", "inc", "-I", "inc2"}},
    {"-isystem /x -isystem/y", {"-isystem", "/x", "-isystem", "/y"}},
    {"-iquote q -idirafter z", {"-iquote", "q", "-idirafter", "z"}},
    {"-DA=1 -D B -UC -U D", {"-DA=1", "-DB", "-UC", "-UD"}},
    {"-include f.h -imacros m.h", {"-include", "f.h", "-imacros", "m.h"}},
    {"-O3 -g -Wall -Wextra -c a.cpp -o a.o -MD -MT a.o -MF a.d -fPIC -flto -DX", {"-DX"}},
    {"-Xclang -load -Xclang x.so -mllvm -y -DX", {"-DX"}},
    {"--param max-inline=3 -DX -L/x -L /y -lz", {"-DX"}},
    {"-fno-exceptions -fno-rtti -fopenmp=libomp", {"-fno-exceptions", "-fno-rtti", "-fopenmp"}},
    {"-Wp,-DA,-MD,a.d", {"-DA"}},
    {"-Xpreprocessor -fopenmp", {"-fopenmp"}},
    {"--sysroot /s --sysroot=/t", {"--sysroot=/s", "--sysroot=/t"}},
    {"-mavx2 -march=native -mtune=native -mcmodel=medium", {"-mavx2", "-march=native"}},
    {"-fmodules-ts -fmodule-mapper=x -fdeps-format=p1689r5 -DX", {"-DX"}},
};
INSTANTIATE_TEST_SUITE_P(Table, HostKeeps, testing::ValuesIn(kHost));

TEST(HostArguments, SearchFoldersInOrder) {
  EXPECT_EQ(translate_host(shell_words("-Ia -isystem b -iquote c")).search_dirs, (Words{"a", "b", "c"}));
  EXPECT_EQ(translate_nvcc(shell_words("-isystem=b -Ia -Xcompiler -Ih")).search_dirs, (Words{"h", "b", "a"}));
}

TEST(HostArguments, ClangsOwnCudaOptions) {
  const ClangArguments out = translate_host(shell_words("-x cuda --cuda-gpu-arch=sm_80 -std=c++20"));
  EXPECT_EQ(out.language, "cuda");
  EXPECT_EQ(out.arch.clang_name(), "sm_80");
  EXPECT_EQ(out.standard, "c++20");
}

}  // namespace
}  // namespace capgate::lint
