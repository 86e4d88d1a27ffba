#pragma once
#include <torch/torch.h>

at::Tensor scratch_like(const at::Tensor& t);
