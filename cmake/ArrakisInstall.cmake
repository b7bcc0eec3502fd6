# cmake --install: headers, libarrakis, its CMake package and arrakis.pc, the programs, and the
# Arrow library where it came out of the wheel. The tree may be moved to any folder: run paths,
# package files and arrakis.pc are relative to where they lie.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Arrakis")
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
set(carried_dir "${CMAKE_INSTALL_LIBDIR}/arrakis")  # libraries taken from elsewhere

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/arrakis" "${PROJECT_BINARY_DIR}/include/arrakis"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")
install(TARGETS arrakis EXPORT ArrakisTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

# The programs called arrakis or arrakis-… that are defined in `folder` or below it.
function(arrakis_programs_in folder result)
  set(found "")
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(name ${target} OUTPUT_NAME)
    if(NOT name)
      set(name ${target})
    endif()
    if(type STREQUAL "EXECUTABLE" AND name MATCHES "^arrakis(-|$)")
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(subfolders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(subfolder IN LISTS subfolders)
    arrakis_programs_in("${subfolder}" more)
    list(APPEND found ${more})
  endforeach()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

set(programs "")
if(ARRAKIS_BUILD_APPS)
  arrakis_programs_in("${PROJECT_SOURCE_DIR}/apps" programs)
  install(TARGETS ${programs} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

file(RELATIVE_PATH bin_to_lib "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
set(library_run_path "$ORIGIN")
set(program_run_path "$ORIGIN/${bin_to_lib}")
if(ARRAKIS_ARROW_IS_WHEEL)
  install(IMPORTED_RUNTIME_ARTIFACTS Arrow::arrow Arrow::flight Arrow::parquet LIBRARY DESTINATION "${carried_dir}")
  list(APPEND library_run_path "$ORIGIN/arrakis")
  list(APPEND program_run_path "$ORIGIN/${bin_to_lib}/arrakis")
  set(link_path_too OFF)
else()
  set(link_path_too ON)  # a real Arrow stays where it is, and must be found there
endif()
set_target_properties(arrakis PROPERTIES
  INSTALL_RPATH "${library_run_path}" INSTALL_RPATH_USE_LINK_PATH ${link_path_too})
if(programs)
  set_target_properties(${programs} PROPERTIES
    INSTALL_RPATH "${program_run_path}" INSTALL_RPATH_USE_LINK_PATH ${link_path_too})
endif()

install(EXPORT ArrakisTargets NAMESPACE Arrakis:: DESTINATION "${package_dir}")
if(ARRAKIS_ARROW_IS_WHEEL)
  get_target_property(arrow_library Arrow::arrow IMPORTED_LOCATION)
  cmake_path(GET arrow_library FILENAME ARRAKIS_CARRIED_ARROW)
endif()
set(ARRAKIS_ARROW_VERSION "${Arrow_VERSION}")
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/ArrakisConfig.cmake.in" "${PROJECT_BINARY_DIR}/ArrakisConfig.cmake"
  INSTALL_DESTINATION "${package_dir}" PATH_VARS carried_dir)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/ArrakisConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/ArrakisConfig.cmake"
  "${PROJECT_BINARY_DIR}/ArrakisConfigVersion.cmake" DESTINATION "${package_dir}")

file(RELATIVE_PATH pc_to_prefix
  "${CMAKE_INSTALL_PREFIX}/${pkgconfig_dir}" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file(
  "${PROJECT_SOURCE_DIR}/cmake/arrakis.pc.in" "${PROJECT_BINARY_DIR}/arrakis.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/arrakis.pc" DESTINATION "${pkgconfig_dir}")
