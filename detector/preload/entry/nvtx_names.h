// The texts behind handles of NVTX: names of domains, and registered strings.
#pragma once

namespace capgate::preload {

// Returns the handle. null: the address of the kept text serves as one.
const void* remember_name(const void* handle, const char* text);

// null for a null handle, or one that is not known.
const char* name_of(const void* handle);

}  // namespace capgate::preload
