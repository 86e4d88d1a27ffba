// Work behind "changed since last time": a graph has it in every replay or in none.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

__global__ void kernel(float* p);

struct Key {
  int heads, width;
  bool operator==(const Key& o) const { return heads == o.heads && width == o.width; }
};

class Tables {
 public:
  void of_numbers(cudaStream_t s) {
    if (version_ != uploaded_) {
      cudaMemcpyAsync(device_, host_.data(), 64, cudaMemcpyHostToDevice, s);  // EXPECT: one-time-init:warning, pageable-copy:note
      uploaded_ = version_;
    }
  }
  void of_a_parameter(int length, cudaStream_t s) {
    if (length != length_) {
      length_ = length;
      kernel<<<1, 1, 0, s>>>(floats_);  // EXPECT: one-time-init:warning
    }
  }
  void by_return(int length, cudaStream_t s) {
    if (length == last_length_) return;
    kernel<<<1, 1, 0, s>>>(floats_);  // EXPECT: one-time-init:warning
    last_length_ = length;
  }
  void of_vectors(cudaStream_t s) {
    if (host_ != last_) {
      cudaMemcpyAsync(device_, host_.data(), 64, cudaMemcpyHostToDevice, s);  // EXPECT: one-time-init:warning, pageable-copy:note
      last_ = host_;
    }
  }
  void of_bytes(cudaStream_t s) {
    if (std::memcmp(host_.data(), last_.data(), 64) != 0) {
      cudaMemcpyAsync(device_, host_.data(), 64, cudaMemcpyHostToDevice, s);  // EXPECT: one-time-init:warning, pageable-copy:note
      std::memcpy(last_.data(), host_.data(), 64);
    }
  }
  void of_objects(const Key& key, cudaStream_t s) {
    if (!(key == key_)) {
      kernel<<<1, 1, 0, s>>>(floats_);  // EXPECT: one-time-init:warning
      key_ = key;
    }
  }
  void of_ranges(cudaStream_t s) {
    if (!std::equal(host_.begin(), host_.end(), last_.begin())) {
      kernel<<<1, 1, 0, s>>>(floats_);  // EXPECT: one-time-init:warning
      last_ = host_;
    }
  }
  // Nothing says that the next step finds it otherwise.
  void always(int length, cudaStream_t s) {
    if (length != length_) kernel<<<1, 1, 0, s>>>(floats_);  // CLEAN: one-time-init
    if (host_ != last_) kernel<<<1, 1, 0, s>>>(floats_);     // CLEAN: one-time-init
    if (length == length_) {
      kernel<<<1, 1, 0, s>>>(floats_);  // CLEAN: one-time-init, where nothing has changed
      length_ = length + 1;
    }
    int local = 0;
    if (length != local) {
      kernel<<<1, 1, 0, s>>>(floats_);  // CLEAN: one-time-init, it begins anew with each call
      local = length;
    }
    if (length != length_) length_ = length;
    kernel<<<1, 1, 0, s>>>(floats_);  // CLEAN: one-time-init, in every step
  }

 private:
  std::vector<int> host_, last_;
  Key key_{};
  int* device_;
  float* floats_;
  int version_ = 1, uploaded_ = 0, length_ = 0, last_length_ = 0;
};

void captured(Tables& t, int length, const Key& key, cudaStream_t s) {
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  t.of_numbers(s);
  t.of_a_parameter(length, s);
  t.by_return(length, s);
  t.of_vectors(s);
  t.of_bytes(s);
  t.of_objects(key, s);
  t.of_ranges(s);
  t.always(length, s);
  cudaStreamEndCapture(s, &g);
}
