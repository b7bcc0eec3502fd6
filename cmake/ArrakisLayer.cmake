# arrakis_layer(<name> SOURCES … [TESTS …] [BENCHES …] [KNOWS <layers>…] [LINKS <public targets>…]
#               [PRIVATE_LINKS …])
#
# One layer of the house: a static library arrakis_<name> from src/<name>, its unit tests in one
# program <name>_test, and its micro-benchmarks in one program <name>_bench. KNOWS names the layers that it may include; CheckLayers.cmake fails the build
# on any other include, so that a wrong direction does not build.
set(ARRAKIS_LAYER_CHECK "${CMAKE_CURRENT_LIST_DIR}/CheckLayers.cmake")

function(arrakis_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 L "" "" "SOURCES;TESTS;BENCHES;KNOWS;LINKS;PRIVATE_LINKS;TEST_LINKS")
  set(target arrakis_${name})
  add_library(${target} STATIC ${L_SOURCES})
  target_include_directories(${target} PUBLIC
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  foreach(layer IN LISTS L_KNOWS)
    target_link_libraries(${target} PUBLIC arrakis_${layer})
  endforeach()
  target_link_libraries(${target} PUBLIC ${L_LINKS} PRIVATE arrakis_warnings ${L_PRIVATE_LINKS})

  file(GLOB files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.?pp")
  set(stamp "${CMAKE_CURRENT_BINARY_DIR}/layer.stamp")
  add_custom_command(OUTPUT "${stamp}"
    COMMAND ${CMAKE_COMMAND} "-DLAYER=${name}" "-DFILES=${files}" "-DSTAMP=${stamp}"
      -P "${ARRAKIS_LAYER_CHECK}"
    DEPENDS ${files} "${ARRAKIS_LAYER_CHECK}"
    COMMENT "Checking what src/${name} includes" VERBATIM)
  add_custom_target(${target}_layer DEPENDS "${stamp}")
  add_dependencies(${target} ${target}_layer)

  if(ARRAKIS_BUILD_TESTS AND L_TESTS)
    arrakis_test(${name}_test SOURCES ${L_TESTS} LINKS ${target} ${L_TEST_LINKS})
  endif()
  if(L_BENCHES AND TARGET Deps::benchmark)
    arrakis_micro_bench(${name}_bench SOURCES ${L_BENCHES} LINKS ${target})
  endif()
endfunction()

# arrakis_micro_bench(<name> SOURCES … LINKS …)
#
# A Google Benchmark program in bench/ of the build; it is not installed.
function(arrakis_micro_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 B "" "" "SOURCES;LINKS")
  add_executable(${name} ${B_SOURCES})
  target_link_libraries(${name} PRIVATE ${B_LINKS} arrakis_warnings Deps::benchmark)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
endfunction()

# arrakis_test(<name> SOURCES … LINKS … [LABELS …] [TIMEOUT s] [SERIAL] [WHOLE])
#
# A GoogleTest program. Each of its tests is one for ctest; with WHOLE the program is, so that what
# its tests share (a broker) starts once. Those labelled stress or stack are not part of the builds
# with sanitizers.
function(arrakis_test name)
  cmake_parse_arguments(PARSE_ARGV 1 T "SERIAL;WHOLE" "TIMEOUT" "SOURCES;LINKS;LABELS;ENVIRONMENT")
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE ${T_LINKS} arrakis_warnings Deps::gtest)
  if(ARRAKIS_SANITIZE)
    # g++ 12 finds std::regex uninitialized once it is instrumented.
    target_compile_options(${name} PRIVATE -Wno-maybe-uninitialized)
  endif()
  if(ARRAKIS_SANITIZE MATCHES undefined)
    # The tests' own code takes twice as long to compile when it is watched and optimized, too.
    target_compile_options(${name} PRIVATE -O0 -fno-sanitize=undefined)
  endif()
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests/support")
  target_compile_definitions(${name} PRIVATE
    ARRAKIS_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ARRAKIS_DEPS="${ARRAKIS_DEPS}")
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  if(ARRAKIS_SANITIZE AND T_LABELS MATCHES "stress|stack")
    # What takes its time from the machine, or from the Python stack, isn't worth the sanitizers'.
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 60)
  endif()
  # What may take long starts first.
  set(properties TIMEOUT ${T_TIMEOUT} COST ${T_TIMEOUT})
  if(T_SERIAL)
    list(APPEND properties RESOURCE_LOCK "${name}")
  endif()
  if(T_ENVIRONMENT)
    list(APPEND properties ENVIRONMENT "${T_ENVIRONMENT}")
  endif()
  if(T_WHOLE)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ${properties})
    set_property(TEST ${name} PROPERTY LABELS ${T_LABELS})
    return()
  endif()
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
  if(T_LABELS)
    # gtest_discover_tests can't pass on a property that is a list.
    set(labels_file "${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake")
    file(GENERATE OUTPUT "${labels_file}" CONTENT
      "set_tests_properties(\${${name}_TESTS} PROPERTIES LABELS \"${T_LABELS}\")\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${labels_file}")
  endif()
endfunction()

# arrakis_fuzz_target(<name> SOURCES … LINKS …)
#
# A libFuzzer program, built by the preset fuzz only. Its saved corpus is tests/corpus/<name>, which
# the unit tests run through the same function.
function(arrakis_fuzz_target name)
  if(NOT ARRAKIS_FUZZ)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 F "" "" "SOURCES;LINKS")
  add_executable(${name} ${F_SOURCES})
  target_link_libraries(${name} PRIVATE ${F_LINKS} arrakis_warnings)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
endfunction()
