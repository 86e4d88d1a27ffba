// CUPTI's callback: the one entry of everything that the program does with CUDA.
#pragma once

#include <cupti_callbacks.h>

namespace capgate::preload {

void CUPTIAPI on_callback(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data);

// Whether any callback of an API call has arrived since subscribing.
bool callbacks_arrive();

void reset_observer_after_fork();

}  // namespace capgate::preload
