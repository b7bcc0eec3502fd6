# Language level, warnings, sanitizers, ccache: what every target of ours is built with.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(CCACHE ccache)
  if(CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
  endif()
endif()

if(ARRAKIS_SANITIZE)
  # C is librdkafka: not ours to search for undefined behaviour, and compiled in a third of the time.
  string(REPLACE "," ";" sanitize_c "${ARRAKIS_SANITIZE}")
  list(REMOVE_ITEM sanitize_c undefined)
  list(TRANSFORM sanitize_c PREPEND "-fsanitize=")
  add_compile_options(
    "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${ARRAKIS_SANITIZE}>"
    "$<$<COMPILE_LANGUAGE:C>:${sanitize_c}>" -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ARRAKIS_SANITIZE})
  if(ARRAKIS_SANITIZE MATCHES "undefined")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=undefined>)
  endif()
elseif(ARRAKIS_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

add_library(arrakis_warnings INTERFACE)
target_compile_options(arrakis_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
    -Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast -Wnull-dereference -Wimplicit-fallthrough
    -Wno-missing-field-initializers
    # g++ 12 at -O3 suspects its own headers.
    $<$<CONFIG:Release>:-Wno-restrict -Wno-null-dereference -Wno-maybe-uninitialized>>
  $<$<BOOL:${ARRAKIS_WERROR}>:-Werror>)
