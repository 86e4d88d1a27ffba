# What `cmake --install` puts where. An outside program finds the header and the Python file with find_package(capgate).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS capgate RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET capgate_preload)
  # capgate looks for it in ../lib, whatever the distribution calls its library folder.
  install(TARGETS capgate_preload LIBRARY DESTINATION lib)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/detector/include/capgate/capgate.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/capgate)
install(FILES ${PROJECT_SOURCE_DIR}/detector/python/capgate_marks.py DESTINATION ${CMAKE_INSTALL_DATADIR}/capgate/python)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/rules DESTINATION ${CMAKE_INSTALL_DATADIR}/capgate/docs FILES_MATCHING PATTERN "*.md")

set(CAPGATE_PACKAGE_DIR ${CMAKE_INSTALL_DATADIR}/cmake/capgate)
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/capgateConfig.cmake.in ${PROJECT_BINARY_DIR}/package/capgateConfig.cmake
  INSTALL_DESTINATION ${CAPGATE_PACKAGE_DIR}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_DATADIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/capgateConfigVersion.cmake
  COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/package/capgateConfig.cmake ${PROJECT_BINARY_DIR}/package/capgateConfigVersion.cmake
  DESTINATION ${CAPGATE_PACKAGE_DIR})
