# What `cmake --install` puts where. An outside program finds the header and the Python file with find_package(capgate), and
# the gate with find_package(capgate COMPONENTS gate).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS capgate RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET capgate_preload)
  # capgate looks for it in ../lib, whatever the distribution calls its library folder.
  install(TARGETS capgate_preload capgate_watch_host LIBRARY DESTINATION lib)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/detector/include/capgate DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/detector/python/ DESTINATION ${CMAKE_INSTALL_DATADIR}/capgate/python
        FILES_MATCHING PATTERN "*.py")
install(PROGRAMS ${PROJECT_SOURCE_DIR}/ci/judge DESTINATION ${CMAKE_INSTALL_DATADIR}/capgate/ci)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/ci/cmake ${PROJECT_SOURCE_DIR}/ci/github ${PROJECT_SOURCE_DIR}/ci/gitlab
        DESTINATION ${CMAKE_INSTALL_DATADIR}/capgate/ci)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/rules DESTINATION ${CMAKE_INSTALL_DATADIR}/capgate/docs FILES_MATCHING PATTERN "*.md")

set(CAPGATE_PACKAGE_DIR ${CMAKE_INSTALL_DATADIR}/cmake/capgate)
set(CAPGATE_GATE_LIBRARY_DIR ${CMAKE_INSTALL_LIBDIR}/capgate)
set(CAPGATE_GATE_INCLUDE_DIR ${CMAKE_INSTALL_DATADIR}/capgate/gate)
if(TARGET capgate_gate)
  # What was not built is left out, and the package then says that it has no gate.
  install(TARGETS capgate_gate capgate_reports capgate_digest capgate_files capgate_json capgate_fmt ARCHIVE DESTINATION ${CAPGATE_GATE_LIBRARY_DIR} OPTIONAL)
  # --strip leaves archives alone by itself, and theirs is most of what is installed.
  install(CODE "
    if(CMAKE_INSTALL_DO_STRIP)
      file(GLOB archives \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CAPGATE_GATE_LIBRARY_DIR}/*.a\")
      if(archives)
        execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-debug \${archives})
      endif()
    endif()")
  install(FILES ${PROJECT_SOURCE_DIR}/reports/gate/digests.h ${PROJECT_SOURCE_DIR}/reports/gate/gate.h
    DESTINATION ${CAPGATE_GATE_INCLUDE_DIR}/reports/gate)
  install(FILES ${PROJECT_SOURCE_DIR}/base/result.h DESTINATION ${CAPGATE_GATE_INCLUDE_DIR}/base)
  install(FILES ${PROJECT_SOURCE_DIR}/reports/gate/CapgateSourceDigest.cmake ${PROJECT_SOURCE_DIR}/reports/gate/source_digest.py
    ${PROJECT_SOURCE_DIR}/cmake/CapgateArchives.cmake DESTINATION ${CAPGATE_PACKAGE_DIR})
endif()
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/capgateConfig.cmake.in ${PROJECT_BINARY_DIR}/package/capgateConfig.cmake
  INSTALL_DESTINATION ${CAPGATE_PACKAGE_DIR}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_DATADIR CMAKE_INSTALL_BINDIR CAPGATE_GATE_LIBRARY_DIR
            CAPGATE_GATE_INCLUDE_DIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/capgateConfigVersion.cmake
  COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/package/capgateConfig.cmake ${PROJECT_BINARY_DIR}/package/capgateConfigVersion.cmake
  DESTINATION ${CAPGATE_PACKAGE_DIR})
