#pragma once
#include <memory>

#include "runtime.h"

class Manager {
 public:
  bool enqueue(cudaStream_t stream);
  bool enqueue_if_idle(cudaStream_t stream);
  bool resize(int rows);

 private:
  std::unique_ptr<engine::Context> context_;
};

struct Stage {
  virtual ~Stage() = default;
  virtual bool run() = 0;
};
