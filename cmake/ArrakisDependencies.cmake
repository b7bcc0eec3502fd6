# Everything that is not ours, behind aliases that hide where it came from. The system's packages
# come first; what it lacks is taken from where script/bootstrap put it (ARRAKIS_DEPS).
#
#   Deps::arrow, Deps::flight, Deps::parquet   Arrow C++: system packages, else the libraries inside the pyarrow wheel
#   Deps::rdkafka    librdkafka >= 2.12   system package, else built statically from the crate's source
#   Deps::hdf5, Deps::zip   HDF5's C library and libzip, for files
#   Deps::fmt, Deps::json, Deps::expected, Deps::cli11, Deps::gtest
#   Deps::benchmark  Google Benchmark     optional: without it there are no micro-benchmarks
find_package(Threads REQUIRED)

function(arrakis_alias name target)
  add_library(deps_${name} INTERFACE)
  target_link_libraries(deps_${name} INTERFACE ${target})
  add_library(Deps::${name} ALIAS deps_${name})
endfunction()

find_package(Arrow CONFIG QUIET)
if(Arrow_FOUND)
  set(ARRAKIS_ARROW_IS_WHEEL OFF)
  arrakis_alias(arrow Arrow::arrow_shared)
  find_package(ArrowFlight CONFIG REQUIRED)
  arrakis_alias(flight ArrowFlight::arrow_flight_shared)
  find_package(Parquet CONFIG REQUIRED)
  arrakis_alias(parquet Parquet::parquet_shared)
else()
  set(ARRAKIS_ARROW_IS_WHEEL ON)
  if(NOT ARROW_PYTHON AND EXISTS "${ARRAKIS_DEPS}/venv/bin/python")
    set(ARROW_PYTHON "${ARRAKIS_DEPS}/venv/bin/python")
  endif()
  find_package(ArrowWheel REQUIRED)
  arrakis_alias(arrow Arrow::arrow)
  arrakis_alias(flight Arrow::flight)
  arrakis_alias(parquet Arrow::parquet)
endif()

if(NOT ARRAKIS_FUZZ) # no fuzz target needs it
  find_package(RdKafka 2.12 CONFIG QUIET)
  if(RdKafka_FOUND)
    arrakis_alias(rdkafka RdKafka::rdkafka)
  else()
    include(LibRdKafka)
    arrakis_alias(rdkafka rdkafka)
  endif()
endif()

find_package(PkgConfig REQUIRED)
pkg_check_modules(hdf5 REQUIRED QUIET IMPORTED_TARGET hdf5)
arrakis_alias(hdf5 PkgConfig::hdf5)
pkg_check_modules(libzip REQUIRED QUIET IMPORTED_TARGET libzip)
arrakis_alias(zip PkgConfig::libzip)

find_package(fmt REQUIRED)
arrakis_alias(fmt fmt::fmt)
find_package(nlohmann_json REQUIRED)
arrakis_alias(json nlohmann_json::nlohmann_json)
find_package(tl-expected REQUIRED)
arrakis_alias(expected tl::expected)

if(ARRAKIS_BUILD_APPS)
  find_package(CLI11 REQUIRED)
  arrakis_alias(cli11 CLI11::CLI11)
endif()
if(ARRAKIS_BUILD_TESTS)
  find_package(GTest REQUIRED)
  arrakis_alias(gtest GTest::gmock_main)
endif()
if(ARRAKIS_BUILD_APPS AND NOT ARRAKIS_BUILD_TESTS) # the release build: what others cost says nothing
  find_package(benchmark CONFIG QUIET)
  if(benchmark_FOUND)
    arrakis_alias(benchmark benchmark::benchmark_main)
  endif()
endif()
