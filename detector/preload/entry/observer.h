// CUPTI's callback: the one entry of everything that the program does with CUDA.
#pragma once

#include <cupti_callbacks.h>

namespace capgate::preload {

void CUPTIAPI on_callback(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data);

}  // namespace capgate::preload
