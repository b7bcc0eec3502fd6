#include <fmt/format.h>
#include <sys/statvfs.h>
#include <zip.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "arrakis/json.hpp"
#include "core/quote.hpp"
#include "files/array_memory.hpp"
#include "files/block_sink.hpp"
#include "files/continuous_series.hpp"
#include "files/spool.hpp"

namespace arrakis::inline v1 {
namespace {

using namespace std::string_view_literals;
using Array = ContinuousSeries::Array;

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie");

// NumPy's name of a sample type: '<f4'.
std::string npy_type(DataType type) {
  const std::string_view name = to_string(type);
  const char kind = name.front() == 'u' ? 'u' : name.front();
  const std::size_t bytes = size_of(type);
  return fmt::format("{}{}{}", bytes == 1 ? '|' : '<', kind, bytes);
}

// What stands before an array's elements in a .npy file; `shape` as Python writes a tuple.
std::string npy_header(std::string_view type, std::string_view shape) {
  constexpr std::string_view kMagic = "\x93NUMPY\x01\0"sv;
  constexpr std::size_t kAlignment = 64;
  std::string dict =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
  const std::size_t before = kMagic.size() + sizeof(std::uint16_t);
  const std::size_t total = (before + dict.size() + kAlignment) / kAlignment * kAlignment;
  dict.resize(total - before - 1, ' ');
  dict += '\n';
  const auto length = static_cast<std::uint16_t>(dict.size());
  std::string header(kMagic);
  header.append(reinterpret_cast<const char*>(&length), sizeof length);
  return header + dict;
}

template <typename T>
std::string npy_scalar(std::string_view type, const T& value) {
  std::string text = npy_header(type, "()");
  return text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// `text` is ASCII.
std::string npy_text(std::string_view text) {
  std::string npy = npy_header(fmt::format("<U{}", text.size()), "()");
  for (const char c : text) npy.append({c, '\0', '\0', '\0'});
  return npy;
}

/// One file in the archive: a header, then an array that lies in chunks.
class Entry {
 public:
  Entry(std::string header, const Spool* spool, std::span<const Spool::Chunk> chunks,
        const ChunkBuffer* array)
      : header_(std::move(header)),
        spool_(spool),
        chunks_(chunks),
        array_(array),
        size_(header_.size() + (array == nullptr ? 0 : array->size() * array->element_bytes())) {}

  [[nodiscard]] std::uint64_t size() const { return size_; }
  void rewind() {
    position_ = 0;
    next_ = 0;
  }
  /// Fills as much of `out` as there is. Negative on failure; error() then has the errno.
  std::int64_t read(std::span<std::byte> out) {
    std::size_t done = 0;
    while (done < out.size() && position_ < size_) {
      const std::int64_t got = read_piece(out.subspan(done));
      if (got < 0) return got;
      done += static_cast<std::size_t>(got);
      position_ += static_cast<std::uint64_t>(got);
    }
    return static_cast<std::int64_t>(done);
  }
  [[nodiscard]] int error() const { return error_; }

 private:
  // At most up to the end of the header or of a chunk.
  std::int64_t read_piece(std::span<std::byte> out) {
    if (position_ < header_.size()) {
      const std::string_view rest = std::string_view(header_).substr(position_);
      const std::size_t bytes = std::min(rest.size(), out.size());
      std::memcpy(out.data(), rest.data(), bytes);
      return static_cast<std::int64_t>(bytes);
    }
    const std::uint64_t at = position_ - header_.size();
    const std::uint64_t chunk_bytes = array_->chunk_elements() * array_->element_bytes();
    const std::uint64_t number = at / chunk_bytes;
    const std::uint64_t within = at % chunk_bytes;
    const auto bytes =
        std::min<std::uint64_t>({out.size(), chunk_bytes - within, size_ - position_});
    out = out.first(static_cast<std::size_t>(bytes));
    while (next_ < chunks_.size() && chunks_[next_].number < number) ++next_;
    if (next_ < chunks_.size() && chunks_[next_].number == number) {
      error_ = spool_->read(chunks_[next_].offset + within, out);
      if (error_ != 0) return -1;
    } else {
      fill(out, within);
    }
    return static_cast<std::int64_t>(bytes);
  }

  void fill(std::span<std::byte> out, std::uint64_t from) const {
    const std::span<const std::byte> element = array_->fill();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = element[(from + i) % element.size()];
  }

  std::string header_;
  const Spool* spool_;
  std::span<const Spool::Chunk> chunks_;
  const ChunkBuffer* array_;
  std::uint64_t size_;
  std::uint64_t position_ = 0;
  std::size_t next_ = 0;  // the first chunk that may be wanted
  int error_ = 0;
};

// How libzip asks for an entry's bytes.
zip_int64_t serve(void* user, void* data, zip_uint64_t bytes, zip_source_cmd_t command) {
  auto& entry = *static_cast<Entry*>(user);
  switch (command) {
    case ZIP_SOURCE_SUPPORTS:
      return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                            ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
    case ZIP_SOURCE_OPEN:
      entry.rewind();
      return 0;
    case ZIP_SOURCE_READ:
      return entry.read({static_cast<std::byte*>(data), static_cast<std::size_t>(bytes)});
    case ZIP_SOURCE_STAT: {
      auto& stat = *static_cast<zip_stat_t*>(data);
      zip_stat_init(&stat);
      stat.size = entry.size();
      stat.valid = ZIP_STAT_SIZE;
      return sizeof stat;
    }
    case ZIP_SOURCE_ERROR: {
      const int codes[] = {ZIP_ER_READ, entry.error()};
      std::memcpy(data, codes, sizeof codes);
      return sizeof codes;
    }
    default:
      return 0;
  }
}

/// An archive of uncompressed files; what was added is written by close().
class Archive {
 public:
  explicit Archive(const PendingFile& file) : file_(file) {
    int error = 0;
    zip_ = zip_open(file.temporary().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error);
    if (zip_ == nullptr) {
      zip_error_t reason;
      zip_error_init_with_code(&reason, error);
      const Error failure = failure_of(reason);
      zip_error_fini(&reason);
      throw failure;
    }
  }
  ~Archive() {
    if (zip_ != nullptr) zip_discard(zip_);
  }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  void add(const std::string& name, Entry entry) {
    bytes_ += entry.size();
    Entry& kept = *entries_.emplace_back(std::make_unique<Entry>(std::move(entry)));
    zip_source_t* const source = zip_source_function(zip_, serve, &kept);
    if (source == nullptr) throw failure();
    const zip_int64_t index = zip_file_add(zip_, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      throw failure();
    }
    if (zip_set_file_compression(zip_, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) != 0) {
      throw failure();
    }
  }

  void close() {
    require_room();
    if (zip_close(zip_) != 0) throw failure();
    zip_ = nullptr;
  }

 private:
  // Before an hour is spent on writing what can't be kept.
  void require_room() const {
    struct statvfs disk {};
    const std::string folder = file_.temporary().parent_path().string();
    if (::statvfs(folder.c_str(), &disk) != 0) return;
    const std::uint64_t room = std::uint64_t{disk.f_bavail} * disk.f_frsize;
    if (bytes_ <= room) return;
    throw file_.failure(
        fmt::format("its arrays have {} bytes, its disk has {} left", bytes_, room));
  }

  [[nodiscard]] Error failure() const { return failure_of(*zip_get_error(zip_)); }
  [[nodiscard]] Error failure_of(zip_error_t& error) const {
    if (zip_error_system_type(&error) == ZIP_ET_SYS && zip_error_code_system(&error) != 0) {
      return file_.failure(zip_error_code_system(&error));
    }
    return file_.failure(zip_error_strerror(&error));
  }

  const PendingFile& file_;
  zip_t* zip_ = nullptr;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::uint64_t bytes_ = 0;
};

std::string key_of(Array array, const std::string& channel) {
  switch (array) {
    case Array::samples:
      return channel;
    case Array::mask:
      return "mask/" + channel;
    case Array::runs:
      break;
  }
  return "times/" + channel;
}
std::string start_key(const std::string& channel) { return "start/" + channel; }
std::string channel_key(const std::string& channel) { return "channel/" + channel; }

void require_distinct_keys(const ChannelSet& channels) {
  std::unordered_set<std::string> keys;
  for (const Channel& channel : channels) {
    const std::string& name = channel.name();
    if (name.find('\0') != std::string::npos) {
      throw Error(Errc::invalid_argument,
                  fmt::format("channel {}: a name in an archive can't hold a zero byte",
                              arrakis::quoted(name)));
    }
    for (const std::string& key : {key_of(Array::samples, name), key_of(Array::mask, name),
                                   key_of(Array::runs, name), start_key(name), channel_key(name)}) {
      if (keys.insert(key).second) continue;
      throw Error(
          Errc::invalid_argument,
          fmt::format("two arrays would be called {}; write another format", arrakis::quoted(key)));
    }
  }
}

class NpzSink final : public BlockSink {
 public:
  NpzSink(PendingFile& file, const ChannelSet& channels, GapForm gaps)
      : file_(file),
        channels_(channels),
        gaps_(gaps),
        spool_(file, channels.size() * std::size(ContinuousSeries::kArrays)) {
    require_distinct_keys(channels);
    const std::size_t memory = array_memory(channels.size());
    for (const Channel& channel : channels) series_.emplace_back(channel, gaps, memory);
  }

  void write(const SeriesBlock& block) override {
    for (std::size_t i = 0; i < series_.size(); ++i) {
      series_[i].append(block.at(i), spooler_of(i));
    }
  }

  void finish() override {
    for (std::size_t i = 0; i < series_.size(); ++i) series_[i].flush(spooler_of(i));
    Archive archive(file_);
    add(archive, "gaps", npy_text(gaps_ == GapForm::nan ? "nan" : "mask"));
    for (std::size_t i = 0; i < series_.size(); ++i) add_channel(archive, i);
    archive.close();
  }

 private:
  static std::size_t place(std::size_t channel, Array array) {
    return channel * std::size(ContinuousSeries::kArrays) + static_cast<std::size_t>(array);
  }

  ContinuousSeries::OnChunk spooler_of(std::size_t channel) {
    return [this, channel](Array array, std::uint64_t number, std::span<const std::byte> bytes) {
      spool_.put(place(channel, array), number, bytes);
    };
  }

  static void add(Archive& archive, const std::string& key, std::string npy) {
    archive.add(key + ".npy", Entry(std::move(npy), nullptr, {}, nullptr));
  }
  void add_array(Archive& archive, std::size_t i, Array array, std::string_view type,
                 std::string_view shape) const {
    archive.add(key_of(array, channels_[i].name()) + ".npy",
                Entry(npy_header(type, shape), &spool_, spool_.chunks(place(i, array)),
                      &series_[i].array(array)));
  }

  void add_channel(Archive& archive, std::size_t i) const {
    const Channel& channel = channels_[i];
    const ContinuousSeries& series = series_[i];
    const std::string shape = fmt::format("({},)", series.array(Array::samples).size());
    add_array(archive, i, Array::samples, npy_type(stored_type(channel.data_type(), gaps_)), shape);
    if (gaps_ == GapForm::mask) add_array(archive, i, Array::mask, "|b1", shape);
    add_array(archive, i, Array::runs, "<i8",
              fmt::format("({}, 2)", series.array(Array::runs).size()));
    add(archive, start_key(channel.name()),
        npy_scalar("<i8", series.start().value_or(GpsTime()).ns()));
    add(archive, channel_key(channel.name()), npy_text(to_json(channel)));
  }

  PendingFile& file_;
  ChannelSet channels_;
  GapForm gaps_;
  Spool spool_;
  std::vector<ContinuousSeries> series_;
};

}  // namespace

std::unique_ptr<BlockSink> make_npz_sink(PendingFile& file, const ChannelSet& channels,
                                         GapForm gaps) {
  return std::make_unique<NpzSink>(file, channels, gaps);
}

}  // namespace arrakis::inline v1
