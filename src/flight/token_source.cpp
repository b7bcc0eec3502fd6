#include "flight/token_source.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "arrakis/error.hpp"

namespace arrakis::inline v1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// A token that is valid for less may be refused by the time it arrives.
constexpr std::chrono::seconds kLeastValidity{60};
/// No token is longer; a file that is, is something else.
constexpr std::size_t kMaxTokenBytes = 65536;
constexpr std::string_view kPlaces =
    "ARRAKIS_TOKEN, SCITOKEN, SCITOKEN_FILE, the *.use files of $_CONDOR_CREDS, BEARER_TOKEN, "
    "BEARER_TOKEN_FILE, and bt_u<uid> in $XDG_RUNTIME_DIR or else in /tmp";

std::optional<unsigned> base64url_value(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<unsigned>(c - 'A');
  if (c >= 'a' && c <= 'z') return static_cast<unsigned>(c - 'a') + 26;
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0') + 52;
  if (c == '-') return 62;
  if (c == '_') return 63;
  return std::nullopt;
}

std::optional<std::string> decode_base64url(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  unsigned bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const std::optional<unsigned> value = base64url_value(c);
    if (!value) return std::nullopt;
    bits = (bits << 6U | *value) & 0xFFFFU;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFFU);
  }
  return bytes;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// The object in one of a JWT's parts; not an object when it is none.
json decode_part(std::string_view part) {
  const std::optional<std::string> bytes = decode_base64url(part);
  if (!bytes) return nullptr;
  json object = json::parse(*bytes, nullptr, false);
  return object.is_object() ? object : json();
}

std::optional<GpsTime> time_claim(const json& claims, const char* key) {
  const auto found = claims.find(key);
  if (found == claims.end() || !found->is_number()) return std::nullopt;
  // Beyond it nanoseconds do not fit: as good as never, or always.
  constexpr double kLimit = 9e9;
  const double seconds = std::clamp(found->get<double>(), -kLimit, kLimit);
  return from_unix(UnixTime(std::chrono::seconds(static_cast<std::int64_t>(std::floor(seconds)))));
}

std::vector<std::string> text_claims(const json& claims, const char* key) {
  std::vector<std::string> texts;
  const auto found = claims.find(key);
  if (found == claims.end()) return texts;
  if (found->is_string()) texts.push_back(found->get<std::string>());
  if (!found->is_array()) return texts;
  for (const json& item : *found) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::vector<std::string> words_of(const std::vector<std::string>& texts) {
  std::vector<std::string> words;
  for (const std::string& text : texts) {
    std::string_view rest = trimmed(text);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      words.emplace_back(rest.substr(0, end));
      rest = trimmed(rest.substr(end));
    }
  }
  return words;
}

/// A right and the path that it is for, without a '/' at its end.
std::pair<std::string_view, std::string_view> split_scope(std::string_view scope) {
  const std::size_t colon = scope.find(':');
  if (colon == std::string_view::npos) return {scope, ""};
  std::string_view path = scope.substr(colon + 1);
  while (path.ends_with('/')) path.remove_suffix(1);
  return {scope.substr(0, colon), path};
}

std::string read_token_file(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return "";  // a pipe would be waited for
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxTokenBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

std::vector<fs::path> condor_files(const char* folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".use") files.push_back(it->path());
  }
  std::ranges::sort(files);
  return files;
}

/// The texts found where tokens may be, one after the other.
class Places {
 public:
  explicit Places(const std::function<const char*(const char*)>& environment)
      : environment_(environment) {}

  [[nodiscard]] std::vector<std::string> candidates() {
    add_value("SCITOKEN");
    add_file("SCITOKEN_FILE");
    if (const char* folder = variable("_CONDOR_CREDS")) {
      for (const fs::path& path : condor_files(folder)) add(read_token_file(path));
    }
    add_value("BEARER_TOKEN");
    add_file("BEARER_TOKEN_FILE");
    add_user_files();
    return std::move(found_);
  }
  [[nodiscard]] const char* variable(const char* name) const {
    const char* const value = environment_(name);
    return value == nullptr || *value == '\0' ? nullptr : value;
  }

 private:
  void add(std::string_view text) {
    const std::string_view token = trimmed(text);
    if (!token.empty()) found_.emplace_back(token);
  }
  void add_value(const char* name) {
    if (const char* value = variable(name)) add(value);
  }
  void add_file(const char* name) {
    if (const char* path = variable(name)) add(read_token_file(path));
  }
  void add_user_files() {
    const std::string name = fmt::format("bt_u{}", geteuid());
    if (const char* folder = variable("XDG_RUNTIME_DIR")) {
      add(read_token_file(fs::path(folder) / name));
      return;
    }
    if (const char* folder = variable("TMPDIR")) add(read_token_file(fs::path(folder) / name));
    add(read_token_file(fs::path("/tmp") / name));
  }

  const std::function<const char*(const char*)>& environment_;
  std::vector<std::string> found_;
};

/// A token that nobody but the server understands; it must only fit into a header.
std::string raw_token(std::string_view text, std::string_view origin) {
  const std::string_view token = trimmed(text);
  if (!std::ranges::all_of(token, [](char c) { return c > ' ' && c <= '~'; })) {
    throw Error(Errc::invalid_argument,
                fmt::format("the token {} holds a character that can't be in a header", origin));
  }
  return std::string(token);
}

}  // namespace

std::optional<TokenClaims> parse_token(std::string_view token) {
  if (token.size() > kMaxTokenBytes) return std::nullopt;
  std::array<std::string_view, 3> parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t dot = token.find('.');
    if ((dot == std::string_view::npos) != (i + 1 == parts.size())) return std::nullopt;
    parts[i] = token.substr(0, dot);
    if (i + 1 < parts.size()) token.remove_prefix(dot + 1);
  }
  if (!decode_part(parts[0]).is_object() || !decode_base64url(parts[2])) return std::nullopt;
  const json claims = decode_part(parts[1]);
  if (!claims.is_object()) return std::nullopt;
  return TokenClaims{.audiences = text_claims(claims, "aud"),
                     .scopes = words_of(text_claims(claims, "scope")),
                     .expiry = time_claim(claims, "exp"),
                     .not_before = time_claim(claims, "nbf")};
}

bool covers(std::string_view granted, std::string_view wanted) {
  const auto [granted_right, granted_path] = split_scope(granted);
  const auto [wanted_right, wanted_path] = split_scope(wanted);
  if (granted_right != wanted_right || !wanted_path.starts_with(granted_path)) return false;
  return wanted_path.size() == granted_path.size() || wanted_path[granted_path.size()] == '/';
}

TokenSource::TokenSource(Settings settings) : settings_(std::move(settings)) {
  found_ = discover();
  if (found_ || settings_.options.mode != TokenOptions::Mode::required) return;
  throw Error(Errc::unauthenticated,
              fmt::format("a token is required, but none was found that is valid for another "
                          "minute, for {} and with the scope {}; looked at {}",
                          settings_.audience, settings_.scope, kPlaces));
}

std::optional<std::string> TokenSource::token() {
  const std::lock_guard lock(mutex_);
  if (!found_) return std::nullopt;
  const bool is_ending =
      found_->expiry && *found_->expiry < settings_.clock->now() + kLeastValidity;
  if (is_ending) {
    // Without another one the server decides about the old one.
    if (std::optional<Found> another = discover()) found_ = std::move(another);
  }
  return found_->token;
}

bool TokenSource::renew() {
  const std::lock_guard lock(mutex_);
  std::optional<Found> another = discover();
  const bool is_new = another && (!found_ || another->token != found_->token);
  if (is_new) found_ = std::move(another);
  return is_new;
}

std::optional<TokenSource::Found> TokenSource::discover() const {
  const TokenOptions& options = settings_.options;
  if (!options.token.empty()) {
    return Found{.token = raw_token(options.token, "that was given"), .expiry = {}};
  }
  if (options.mode == TokenOptions::Mode::off) return std::nullopt;
  Places places(settings_.environment);
  if (const char* text = places.variable("ARRAKIS_TOKEN")) {
    return Found{.token = raw_token(text, "in the environment's ARRAKIS_TOKEN"), .expiry = {}};
  }
  for (std::string& candidate : places.candidates()) {
    const std::optional<TokenClaims> claims = parse_token(candidate);
    if (claims && fits(*claims)) return Found{std::move(candidate), claims->expiry};
  }
  return std::nullopt;
}

bool TokenSource::fits(const TokenClaims& claims) const {
  const GpsTime now = settings_.clock->now();
  if (claims.expiry && *claims.expiry < now + kLeastValidity) return false;
  if (claims.not_before && *claims.not_before > now) return false;
  const auto is_for_us = [&](const std::string& audience) {
    return audience == settings_.audience || audience == "ANY";
  };
  return std::ranges::any_of(claims.audiences, is_for_us) &&
         std::ranges::any_of(claims.scopes, [&](const std::string& scope) {
           return covers(scope, settings_.scope);
         });
}

}  // namespace arrakis::inline v1
