// Texts, stacks and places in source code.
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

reports::Frame native(const std::string& module, const std::string& function, const std::string& file = "",
                      int line = 0) {
  reports::Frame frame;
  frame.language = reports::FrameLanguage::native;
  frame.module = module;
  frame.function = function;
  frame.file = file;
  frame.line = line;
  return frame;
}

}  // namespace

uint32_t ProcessBuilder::string(const std::string& text) {
  if (text.empty()) return 0;
  const auto [at, fresh] = strings_.try_emplace(text, static_cast<uint32_t>(strings_.size() + 1));
  if (fresh) {
    trace::StringRecord record{};
    record.id = at->second;
    record.bytes = static_cast<uint32_t>(text.size());
    add(record, RecordType::string, text);
  }
  return at->second;
}

uint32_t ProcessBuilder::stack(std::map<uint32_t, std::vector<uint32_t>>& stacks,
                               std::vector<reports::Frame> frames) {
  std::vector<uint32_t> indices;
  for (auto& frame : frames) {
    indices.push_back(static_cast<uint32_t>(frames_.size()));
    frames_.push_back(std::move(frame));
  }
  const auto id = static_cast<uint32_t>(stacks.size() + 1);
  stacks[id] = indices;
  return id;
}

void ProcessBuilder::meta(const std::string& key, const std::string& value) {
  trace::MetaRecord record{};
  record.key_bytes = static_cast<uint32_t>(key.size());
  record.value_bytes = static_cast<uint32_t>(value.size());
  add(record, RecordType::meta, key + value);
}

void ProcessBuilder::name_thread(const std::string& name) {
  trace::ThreadRecord record{};
  record.tid = tid_;
  record.name = string(name);
  add(record, RecordType::thread);
}

void ProcessBuilder::at(const std::string& file, int line, const std::string& function) {
  python_ = 0;
  native_ = stack(native_stacks_, {native("decode", "cudaSomething"), native("decode", function, file, line),
                                   native("decode", "main", "main.cpp", 10)});
}

void ProcessBuilder::built_in(const std::string& file, int line, const std::string& function) {
  python_ = 0;
  reports::Frame inlined = native("decode", function, file, line);
  inlined.inlined = true;
  native_ = stack(native_stacks_,
                  {native("decode", "cudaSomething"), inlined, native("decode", "main", "main.cpp", 10)});
}

void ProcessBuilder::in_library(const std::string& module, const std::string& function,
                                const std::string& file, int line, const std::string& user_function) {
  python_ = 0;
  native_ = stack(native_stacks_,
                  {native("libcudart.so.13", "cudaSomething"), native(module, function),
                   native("decode", user_function, file, line), native("decode", "main", "main.cpp", 10)});
}

void ProcessBuilder::in_python(const std::string& file, int line, const std::string& function,
                               const std::string& module, const std::string& native_function) {
  native_ =
      stack(native_stacks_, {native("libcudart.so.13", "cudaSomething"), native(module, native_function),
                             native("libtorch_python.so", "THPVariable_method"),
                             native("libpython3.12.so.1.0", "_PyEval_EvalFrameDefault"),
                             native("libpython3.12.so.1.0", "Py_BytesMain"), native("python3.12", "_start")});
  reports::Frame torch, user, main;
  torch.language = user.language = main.language = reports::FrameLanguage::python;
  torch.file = "torch/_tensor.py";
  torch.line = 40;
  torch.function = "wrapped";
  user.file = file;
  user.line = line;
  user.function = function;
  main.file = "run.py";
  main.line = 3;
  main.function = "<module>";
  python_ = stack(python_stacks_, {torch, user, main});
}

void ProcessBuilder::in_frames(const std::vector<std::pair<std::string, std::string>>& python) {
  in_python("", 0, "");
  std::vector<reports::Frame> frames;
  for (const auto& [file, function] : python)
    frames.push_back({reports::FrameLanguage::python, file, 1, function, "", false});
  python_ = stack(python_stacks_, std::move(frames));
}

}  // namespace capgate::test
