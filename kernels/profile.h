// When each launch of a chain is done: a stamp behind each, which keeps the chain's overlap.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace dsv4::kernels {

// Names the launches that follow, on this thread. The name must outlive them.
void name_launches(const char* name);

// From start() on each launch (launch.h) of `stream` is followed by a kernel of one thread that writes the
// time at which it could run. It waits for the launch as the next one would, which is placed meanwhile; what
// it costs itself is seen behind "stamp". Not for capture.
class Profile {
 public:
  // Room on the device for so many stamps; what is too much is not stamped.
  static constexpr int kMostStamps = 1 << 16;

  Profile(cudaStream_t stream, std::uint64_t* stamps) : stream_(stream), stamps_(stamps) {}
  ~Profile() { stop(); }
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  void start();
  void stop();
  void launched(cudaStream_t stream);

  struct Line {
    std::string name;
    int launches = 0;
    double seconds = 0;
  };
  // In the order in which the names came first; once the stream is done. The first launch has no time.
  std::vector<Line> lines(const std::vector<std::uint64_t>& stamps) const;
  int count() const { return static_cast<int>(names_.size()); }

 private:
  void stamp(const char* name);

  cudaStream_t stream_;
  std::uint64_t* stamps_;
  std::vector<const char*> names_;
};

}  // namespace dsv4::kernels
