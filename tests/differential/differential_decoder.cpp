/// differential_decoder FOLDER: decodes the messages in FOLDER/messages and writes what it found to
/// the standard output, a JSON object a message. The channels of set N are in FOLDER/channels-N.
///
/// Each message goes to a new decoder and to one that has seen all the set's messages before it;
/// the two must agree.

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/json.hpp"
#include "wire/part.hpp"
#include "wire/row_decoder.hpp"

namespace {

using arrakis::BlockPart;
using arrakis::Channel;
using arrakis::ChannelSet;
using arrakis::DecodeResult;
using nlohmann::ordered_json;

constexpr std::size_t kMaxDecompressedBytes = std::size_t{64} << 20U;

struct Set {
  explicit Set(ChannelSet all) : channels(std::move(all)), warm(channels) {}
  ChannelSet channels;
  arrakis::RowDecoder warm;
};

std::unique_ptr<Set> read_set(const std::string& path) {
  std::ifstream file(path);
  return std::make_unique<Set>(ChannelSet(arrakis::read_channels(file, path)));
}

// A copy of its own, so that a read outside is one outside of an allocation.
arrakis::ReceivedBytes received(std::string_view message) {
  auto owner = std::make_shared<std::vector<std::byte>>(message.size());
  if (!message.empty()) std::memcpy(owner->data(), message.data(), message.size());
  const std::span<const std::byte> bytes(*owner);
  return {bytes, std::move(owner)};
}

std::string hex(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

bool is_gap(const arrakis::Samples& samples, std::size_t i) {
  if (samples.validity == nullptr) return false;
  const std::size_t bit = samples.validity_offset + i;
  return ((unsigned{samples.validity[bit / 8]} >> (bit % 8)) & 1U) == 0;
}

// Values as hexadecimal bytes, zeros under gaps.
ordered_json describe(const Channel& channel, const arrakis::Samples& samples) {
  const std::size_t width = size_of(channel.data_type());
  std::string gaps;
  std::string values;
  for (std::size_t i = 0; i < samples.size; ++i) {
    const bool gap = is_gap(samples, i);
    gaps += gap ? '1' : '0';
    values += gap ? std::string(2 * width, '0') : hex({samples.values + i * width, width});
  }
  return {{"type", to_string(channel.data_type())}, {"gaps", gaps}, {"values", values}};
}

ordered_json describe(const BlockPart& part, const ChannelSet& channels) {
  ordered_json found = ordered_json::object();
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const arrakis::Samples samples = part.samples(i);
    if (samples.present) found[channels[i].name()] = describe(channels[i], samples);
  }
  return {{"time", part.time().ns()}, {"duration", part.duration().count()}, {"channels", found}};
}

ordered_json describe(const DecodeResult& result, const ChannelSet& channels) {
  ordered_json parts = ordered_json::array();
  if (result.part) parts.push_back(describe(*result.part, channels));
  for (const auto& part : result.more) parts.push_back(describe(*part, channels));
  constexpr std::string_view kStatus[] = {"decoded", "no_rows", "bad"};
  return {{"status", kStatus[static_cast<std::size_t>(result.status)]},
          {"reason", result.reason},
          {"dropped", result.dropped_rows},
          {"parts", parts}};
}

ordered_json decode(Set& set, std::string_view message) {
  arrakis::RowDecoder fresh(set.channels, {kMaxDecompressedBytes});
  ordered_json found = describe(fresh.decode(received(message)), set.channels);
  if (describe(set.warm.decode(received(message)), set.channels) != found) {
    found["status"] = "depends on the messages before";
  }
  return found;
}

std::uint32_t take_number(std::string_view& bytes) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.substr(0, sizeof number).data(), sizeof number);
  bytes.remove_prefix(sizeof number);
  return number;
}

void run(const std::string& folder) {
  std::ostringstream file;
  file << std::ifstream(folder + "/messages", std::ios::binary).rdbuf();
  const std::string all = file.str();
  std::map<std::uint32_t, std::unique_ptr<Set>> sets;
  for (std::string_view rest = all; !rest.empty();) {
    const std::uint32_t number = take_number(rest);
    const std::uint32_t size = take_number(rest);
    std::unique_ptr<Set>& set = sets[number];
    if (set == nullptr) set = read_set(folder + "/channels-" + std::to_string(number));
    const ordered_json found = decode(*set, rest.substr(0, size));
    std::cout << found.dump(-1, ' ', true, ordered_json::error_handler_t::replace) << std::endl;
    rest.remove_prefix(size);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: differential_decoder FOLDER\n";
    return 2;
  }
  run(argv[1]);
}
