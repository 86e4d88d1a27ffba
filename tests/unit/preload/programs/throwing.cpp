// The audited program of the tests of C++ exceptions: throwing SCENARIO. Exit code 0 unless the scenario
// fails.
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <stdexcept>
#include <string>
#include <system_error>

#include "tests/unit/preload/fake/fake_runtime.h"

// Made like the framework's own: the class that its errors are derived from, by the name that it has there.
namespace c10 {
class Error : public std::exception {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}
  // The real one walks the stack here, which takes seconds: nobody but the program may call it.
  const char* what() const noexcept override {
    std::fprintf(stderr, "what() was called\n");
    return message_.c_str();
  }

 private:
  std::string message_;
};
class NotSupported : public Error {
 public:
  using Error::Error;
};
}  // namespace c10

namespace {

cudaStream_t stream() {
  static cudaStream_t made = nullptr;
  if (made == nullptr) fake_rt::stream_create(&made, cudaStreamNonBlocking);
  return made;
}

// Ends its capture whatever happens.
class Capture {
 public:
  Capture() { fake_rt::begin_capture(stream(), cudaStreamCaptureModeGlobal); }
  ~Capture() {
    cudaGraph_t graph = nullptr;
    fake_rt::end_capture(stream(), &graph);
  }
};

__attribute__((noinline)) void refuse(const char* what) {
  throw std::out_of_range(what);
}

template <class Function>
void swallow(Function function) {
  try {
    function();
  } catch (...) {
  }
}

void leaves() {
  swallow([] {
    const Capture capture;
    fake_rt::launch(stream(), "first");
    swallow([] { refuse("one that is caught inside"); });
    refuse("no such expert");
  });
}

void leaves_past_another() {
  struct Cleanup {
    ~Cleanup() {
      swallow([] { throw std::logic_error("while the other one is on its way"); });
    }
  };
  swallow([] {
    const Capture capture;
    const Cleanup cleanup;
    throw c10::NotSupported("the copy's source is pageable");
  });
}

void caught_inside() {
  const Capture capture;
  swallow([] { refuse("caught"); });
}

void handled() {
  fake_rt::begin_capture(stream(), cudaStreamCaptureModeGlobal);
  try {
    refuse("handled where the capture is ended");
  } catch (const std::exception&) {
    cudaGraph_t graph = nullptr;
    fake_rt::end_capture(stream(), &graph);
  }
}

void handled_before() {
  try {
    refuse("thrown before");
  } catch (const std::exception&) {
    swallow([] {
      const Capture capture;
      fake_rt::launch(stream(), "only");
    });
  }
}

struct Left {};
struct Middle {
  virtual ~Middle() = default;
  long value = 1;
};
struct Both : Middle, std::system_error {
  Both() : std::system_error(std::make_error_code(std::errc::timed_out), "both") {}
};

void kinds() {
  const Capture capture;
  swallow([] { throw 7; });
  swallow([] { throw Left(); });
  swallow([] { throw Both(); });
  swallow([] { throw std::bad_alloc(); });
  swallow([] { throw std::runtime_error(std::string(5000, 'x')); });
  swallow([] { throw c10::Error(""); });
}

void dies() {
  fake_rt::begin_capture(stream(), cudaStreamCaptureModeGlobal);
  throw std::runtime_error("nobody catches this");
}

void many() {
  const Capture capture;
  for (int i = 0; i < 30000; ++i) swallow([] { refuse("again"); });
}

// Nanoseconds of the processor that a throw and catch takes while no capture is open. Other programs do not
// count.
void speed() {
  fake_rt::launch(stream(), "the driver is there");
  const std::clock_t start = std::clock();
  constexpr int kTimes = 200000;
  for (int i = 0; i < kTimes; ++i) swallow([] { throw 1; });
  std::fprintf(stderr, "%.0f\n", static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC * 1e9 / kTimes);
}

}  // namespace

int main(int argc, char** argv) {
  static const std::map<std::string, void (*)()> kScenarios = {
      {"leaves", leaves},
      {"leaves_past_another", leaves_past_another},
      {"caught_inside", caught_inside},
      {"handled", handled},
      {"handled_before", handled_before},
      {"kinds", kinds},
      {"dies", dies},
      {"many", many},
      {"speed", speed},
  };
  const auto scenario = kScenarios.find(argc > 1 ? argv[1] : "");
  if (scenario == kScenarios.end()) return 2;
  scenario->second();
  return 0;
}
