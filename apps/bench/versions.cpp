#include "bench/versions.hpp"

#include <arrow/config.h>
#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include "arrakis/version.hpp"

namespace arrakis::bench {
namespace {

#ifdef __clang__
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "gcc " __VERSION__;
#endif

}

std::string versions() {
  return fmt::format(R"({{"arrakis": "{}", "librdkafka": "{}", "arrow": "{}", "compiler": "{}"}})",
                     version(), rd_kafka_version_str(), arrow::GetBuildInfo().version_string,
                     kCompiler);
}

}
