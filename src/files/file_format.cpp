#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrakis/error.hpp"
#include "arrakis/files.hpp"
#include "core/quote.hpp"

namespace arrakis::inline v1 {
namespace {

constexpr std::pair<std::string_view, FileFormat> kEndings[] = {
    {".arrow", FileFormat::arrow},     {".feather", FileFormat::arrow},
    {".parquet", FileFormat::parquet}, {".h5", FileFormat::hdf5},
    {".hdf5", FileFormat::hdf5},       {".hdf", FileFormat::hdf5},
    {".csv", FileFormat::csv},         {".npz", FileFormat::npz},
};

std::string in_small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

}  // namespace

std::string_view to_string(FileFormat format) {
  switch (format) {
    case FileFormat::arrow:
      return "arrow";
    case FileFormat::parquet:
      return "parquet";
    case FileFormat::hdf5:
      return "hdf5";
    case FileFormat::csv:
      return "csv";
    case FileFormat::npz:
      break;
  }
  return "npz";
}

FileFormat file_format_of(const std::filesystem::path& path) {
  const std::string ending = in_small_letters(path.extension().string());
  const auto* const found = std::find_if(std::begin(kEndings), std::end(kEndings),
                                         [&](const auto& known) { return known.first == ending; });
  if (found != std::end(kEndings)) return found->second;
  std::vector<std::string_view> known;
  for (const auto& entry : kEndings) known.push_back(entry.first);
  throw Error(
      Errc::invalid_argument,
      fmt::format("{}: the name does not say which format the file has; it ends in one of {}",
                  arrakis::quoted(path.string()), fmt::join(known, ", ")));
}

}  // namespace arrakis::inline v1
