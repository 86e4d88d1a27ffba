# A release runs on machines whose glibc is older than the one of the machine that builds it. With -DCAPGATE_GLIBC=DIR its
# programs are linked with the glibc in DIR, which scripts/older_glibc makes, and with libstdc++ and libgcc as archives. A
# function that the older glibc lacks does not link. The objects are those of any other build: only the link is another one.
set(CAPGATE_GLIBC "" CACHE PATH "An older glibc, for programs that run on other machines (scripts/older_glibc)")

if(CAPGATE_GLIBC)
  # Libraries of their own until glibc 2.34. They come last, since what is before them uses them.
  string(APPEND CMAKE_CXX_STANDARD_LIBRARIES " -Wl,--as-needed -lpthread -ldl")
endif()

# Symbols are left out while linking, and with them the folder in which an object was compiled: the same sources give the same
# bytes, and the same build id, in any folder.
function(capgate_without_symbols target)
  if(CAPGATE_GLIBC)
    target_link_options(${target} PRIVATE -Wl,--strip-all -Wl,-Map=${PROJECT_BINARY_DIR}/${target}.map)
  endif()
endfunction()

function(capgate_runs_elsewhere target)
  if(NOT CAPGATE_GLIBC)
    return()
  endif()
  capgate_without_symbols(${target})
  # -B: where the compiler looks for what begins a program, and for libraries, before its own places.
  target_link_options(${target} PRIVATE -B${CAPGATE_GLIBC}/usr/lib/x86_64-linux-gnu/ -Wl,--sysroot=${CAPGATE_GLIBC}
    -L${CAPGATE_GLIBC}/libgcc -static-libgcc -static-libstdc++)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)  # libstdc++.a, which comes after all others, uses them as well
    target_link_options(${target} PRIVATE "SHELL:-Wl,--push-state,--no-as-needed -lpthread -ldl -Wl,--pop-state")
  endif()
endfunction()
