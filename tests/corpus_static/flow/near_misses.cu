// What stands next to a device value and is none of it: other cells, other paths, other lives of a name.
#include <capgate/capgate.h>
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

void act() {}
__global__ void work(float* p, int n);

struct Step {
  int position = 0, limit = 8;
  int* pinned = nullptr;
  int* token = nullptr;  // the device's
  std::vector<int> history;
  bool captured = false;
};

CAPGATE_REGION void fields_of_the_host(Step& step, cudaStream_t s) {
  cudaMemcpyAsync(step.pinned, step.token, 4, cudaMemcpyDeviceToHost, s);
  if (step.position > step.limit) act();         // CLEAN: host-branch
  if (step.captured) act();                      // CLEAN: host-branch
  if (step.pinned == nullptr) act();             // CLEAN: host-branch, the pointer and not the value
  if (step.history.size() > 4) act();            // CLEAN: host-branch
  if (!step.history.empty() && step.history.back() == 3) act();  // CLEAN: host-branch
  while (step.position < step.limit) ++step.position;            // CLEAN: host-branch
  if (step.pinned[0]) act();                     // EXPECT: host-branch
}

CAPGATE_REGION void elements(std::vector<int*>& pinned, std::vector<int>& lengths, const int* d, size_t i, cudaStream_t s) {
  cudaMemcpyAsync(pinned[i], d, 4, cudaMemcpyDeviceToHost, s);
  if (lengths[i] > 3) act();                     // CLEAN: host-branch
  if (pinned[i] == nullptr) act();               // CLEAN: host-branch
  if (pinned.size() != lengths.size()) act();    // CLEAN: host-branch
  if (i + 1 < lengths.size()) act();             // CLEAN: host-branch
}

// A copy that is known to end within an element leaves the others the host's.
CAPGATE_REGION void neighbours(int* flags, const int* d, cudaStream_t s) {
  cudaMemcpyAsync(flags, d, sizeof *flags, cudaMemcpyDeviceToHost, s);
  if (flags[1]) act();                           // CLEAN: host-branch
  if (flags[0]) act();                           // EXPECT: host-branch
}
CAPGATE_REGION void neighbours_of_the_second(int* flags, const int* d, size_t i, cudaStream_t s) {
  cudaMemcpyAsync(&flags[1], d, 4, cudaMemcpyDeviceToHost, s);
  if (flags[0]) act();                           // CLEAN: host-branch
  if (flags[2]) act();                           // CLEAN: host-branch
  if (flags[1]) act();                           // EXPECT: host-branch
  if (flags[i]) act();                           // EXPECT: host-branch
}
CAPGATE_REGION void of_an_array(int* flags, CUarray array, CUstream s) {
  cuMemcpyAtoHAsync(&flags[1], array, 0, 4, s);
  if (flags[2]) act();                           // CLEAN: host-branch
  if (flags[1]) act();                           // EXPECT: host-branch
}
static bool second(const int* flags) {
  return flags[1] != 0;
}
static bool any(const int* flags, int n) {
  for (int i = 0; i < n; ++i)
    if (flags[i]) return true;                   // EXPECT: host-branch
  return false;
}
CAPGATE_REGION void handed_on(int* flags, const int* d, int n, cudaStream_t s) {
  cudaMemcpyAsync(flags, d, sizeof(int), cudaMemcpyDeviceToHost, s);
  if (second(flags)) act();                      // CLEAN: host-branch
  if (any(flags, n)) act();                      // CLEAN: host-sync
}
CAPGATE_REGION void several(int* flags, int* more, const int* d, size_t bytes, cudaStream_t s) {
  cudaMemcpyAsync(flags, d, 2 * sizeof(int), cudaMemcpyDeviceToHost, s);
  if (flags[1]) act();                           // EXPECT: host-branch
  cudaMemcpyAsync(more, d, bytes, cudaMemcpyDeviceToHost, s);
  if (more[1]) act();                            // EXPECT: host-branch
}
CAPGATE_REGION void rows_of_one(int* column, const int* d, int n, cudaStream_t s) {
  cudaMemcpy2DAsync(column, 4, d, 64, 4, n, cudaMemcpyDeviceToHost, s);
  if (column[1]) act();                          // EXPECT: host-branch
}
CAPGATE_REGION void in_bytes(char* text, const int* d, cudaStream_t s) {
  cudaMemcpyAsync(text, d, 4, cudaMemcpyDeviceToHost, s);
  if (text[3]) act();                            // EXPECT: host-branch
}

CAPGATE_REGION void tuples(int* pinned, const int* d, int rows, cudaStream_t s) {
  cudaMemcpyAsync(pinned, d, 4, cudaMemcpyDeviceToHost, s);
  const std::pair<int, int> both(rows, *pinned);
  if (both.first) act();                         // CLEAN: host-branch
  if (both.second) act();                        // EXPECT: host-branch
  std::optional<int> maybe = rows;
  if (maybe) act();                              // CLEAN: host-branch
  if (*maybe > 2) act();                         // CLEAN: host-branch
}

CAPGATE_REGION void overwritten(int* pinned, const int* d, int n, cudaStream_t s) {
  cudaMemcpyAsync(pinned, d, 4, cudaMemcpyDeviceToHost, s);
  int seen = *pinned;
  seen = n;
  if (seen) act();                               // CLEAN: host-branch
  int swapped = *pinned, other = n;
  std::swap(swapped, other);
  if (swapped) act();                            // CLEAN: host-branch
  auto made = std::make_unique<int>(*pinned);
  made = std::make_unique<int>(n);
  if (*made) act();                              // CLEAN: host-branch
  std::vector<int> list(4, *pinned);
  list.clear();
  list.push_back(n);
  if (list[0]) act();                            // CLEAN: host-branch
  *pinned = 0;
  if (*pinned) act();                            // CLEAN: host-branch
  int both = n;
  if (n > 3)
    both = 2;
  else
    both = 3;
  if (both > 2) act();                           // CLEAN: host-branch
}

// The copy comes after the branch, or on another path.
CAPGATE_REGION void later(int* pinned, const int* d, bool read, cudaStream_t s) {
  if (*pinned) act();                            // CLEAN: host-branch
  if (!read) {
    if (*pinned > 2) act();                      // CLEAN: host-branch
    return;
  }
  cudaMemcpyAsync(pinned, d, 4, cudaMemcpyDeviceToHost, s);
}
CAPGATE_REGION void either(int* pinned, int* other, const int* d, bool up, cudaStream_t s) {
  if (up) {
    cudaMemcpyAsync(other, d, 4, cudaMemcpyDeviceToHost, s);
  } else {
    if (*other) act();                           // CLEAN: host-branch
  }
  if (*pinned) act();                            // CLEAN: host-branch
}

// Names again.
struct Other {
  int count = 0;
  int read() const { return count; }
};
struct Reader {
  int count = 0;
  int* pinned = nullptr;
  int read(const int* d, cudaStream_t s) {
    cudaMemcpyAsync(pinned, d, 4, cudaMemcpyDeviceToHost, s);
    return *pinned;
  }
};
CAPGATE_REGION void same_names(Reader& reader, const Other& other, const int* d, cudaStream_t s) {
  if (reader.read(d, s)) act();                  // EXPECT: host-branch
  if (other.read()) act();                       // CLEAN: host-branch
  if (reader.count == other.count) act();        // CLEAN: host-branch
}
static int most(int a, int b) {
  return a > b ? a : b;                          // CLEAN: host-branch, only the host's values come here
}
CAPGATE_REGION void arguments(int* pinned, const int* d, int n, cudaStream_t s) {
  cudaMemcpyAsync(pinned, d, 4, cudaMemcpyDeviceToHost, s);
  if (most(n, 3) > 2) act();                     // CLEAN: host-branch
  if (std::min(n, 4) == 4) act();                // CLEAN: host-branch
  if (sizeof(*pinned) > 2) act();                // CLEAN: host-branch
}

// Handles, names and settings.
CAPGATE_REGION void settings(const std::map<std::string, int>& options, const std::string& name, int* pinned, const int* d,
                             cudaStream_t s) {
  cudaMemcpyAsync(pinned, d, 4, cudaMemcpyDeviceToHost, s);
  if (options.count("graph")) act();             // CLEAN: host-branch
  if (const auto it = options.find(name); it != options.end() && it->second) act();  // CLEAN: host-branch
  if (name == "decode") act();                   // CLEAN: host-branch
  if (s != nullptr) act();                       // CLEAN: host-branch
  if (std::strcmp(name.c_str(), "x") == 0) act();  // CLEAN: host-branch
  switch (name.size()) {                         // CLEAN: host-branch
    case 1:
      act();
  }
}

// Logged, kept, handed on: nobody decides by it.
CAPGATE_REGION int kept(int* pinned, int* log_of, const int* d, int n, cudaStream_t s) {
  cudaMemcpyAsync(pinned, d, 4, cudaMemcpyDeviceToHost, s);
  log_of[n] = *pinned;                           // CLEAN: host-branch, device-sized
  const int doubled = *pinned * 2;               // CLEAN: host-branch
  return doubled;                                // CLEAN: host-branch
}
