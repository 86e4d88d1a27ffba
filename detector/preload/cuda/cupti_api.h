// CUPTI, opened at run time.
#pragma once

#include <cupti_callbacks.h>
#include <cupti_result.h>
#include <stddef.h>
#include <stdint.h>

namespace capgate::preload {

struct CuptiApi {
  CUptiResult (*subscribe)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*);
  CUptiResult (*subscribe_v2)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*, CUpti_SubscriberParams*);
  CUptiResult (*unsubscribe)(CUpti_SubscriberHandle);
  CUptiResult (*enable)(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId);
  CUptiResult (*name)(CUpti_CallbackDomain, uint32_t, const char**);
  CUptiResult (*version)(uint32_t*);
  CUptiResult (*finalize)();
  CUptiResult (*error_text)(CUptiResult, const char**);
};

extern constinit CuptiApi g_cupti;

// Opens the libcupti that is mapped already, else the one of the wheels whose libcudart or torch is mapped,
// else those that CAPGATE_CUPTI_HINTS names, else the toolkit's. `path` tells which. False: none was found.
bool open_cupti(char* path, size_t path_size);

enum class Attach { attached, held, unavailable };

// Subscribes. `detail` gets the holder's name or the reason.
Attach subscribe(CUpti_CallbackFunc callback, char* detail, size_t detail_size);

CUpti_SubscriberHandle subscriber();

// Ends the subscription; with finalize also CUPTI's own work, where its version allows it.
void unsubscribe();

}  // namespace capgate::preload
