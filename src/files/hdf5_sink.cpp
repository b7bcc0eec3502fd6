#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrakis/json.hpp"
#include "core/quote.hpp"
#include "files/array_memory.hpp"
#include "files/block_sink.hpp"
#include "files/continuous_series.hpp"
#include "files/hdf5_disk.hpp"
#include "files/hdf5_library.hpp"

namespace arrakis::inline v1 {
namespace {

using Array = ContinuousSeries::Array;

// A channel's samples stand at the top, named as the channel, with the attributes that GWpy gives
// and expects there, and no others: it takes every one for an argument. All else is in one group.
constexpr const char* kGroup = "arrakis";
constexpr const char* kMaskGroup = "arrakis/mask";
constexpr const char* kRunsGroup = "arrakis/times";

hid_t sample_hdf5_type(DataType type) {
  switch (type) {
    case DataType::int8:
      return H5T_NATIVE_INT8;
    case DataType::int16:
      return H5T_NATIVE_INT16;
    case DataType::int32:
      return H5T_NATIVE_INT32;
    case DataType::int64:
      return H5T_NATIVE_INT64;
    case DataType::uint8:
      return H5T_NATIVE_UINT8;
    case DataType::uint16:
      return H5T_NATIVE_UINT16;
    case DataType::uint32:
      return H5T_NATIVE_UINT32;
    case DataType::uint64:
      return H5T_NATIVE_UINT64;
    case DataType::float32:
      return H5T_NATIVE_FLOAT;
    case DataType::float64:
      break;
  }
  return H5T_NATIVE_DOUBLE;
}

double nearest_seconds(GpsTime time) {
  const std::string text = format_time(time);
  double seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return seconds;
}

void require_plain_name(const Channel& channel) {
  if (channel.name().find('/') == std::string::npos) return;
  throw Error(Errc::invalid_argument,
              fmt::format("channel {}: HDF5 takes '/' in a name for a folder; write another format",
                          arrakis::quoted(channel.name())));
}

class Hdf5Sink final : public BlockSink {
 public:
  Hdf5Sink(PendingFile& file, const ChannelSet& channels, GapForm gaps) : file_(file), gaps_(gaps) {
    for (const Channel& channel : channels) require_plain_name(channel);
    const Hdf5Session session;
    try {
      open(channels);
    } catch (...) {
      abandon();
      throw;
    }
  }

  ~Hdf5Sink() override {
    const Hdf5Session session;
    abandon();
  }

  void write(const SeriesBlock& block) override {
    const Hdf5Session session;
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      OneChannel& channel = channels_[i];
      channel.series.append(block.at(i), writer_of(channel));
    }
  }

  void finish() override {
    const Hdf5Session session;
    for (OneChannel& channel : channels_) finish(channel);
    close();
  }

 private:
  struct OneChannel {
    std::string name;
    ContinuousSeries series;
  };

  template <typename T>
  T check(T result) const {
    if (disk_.error() != 0) throw file_.failure(disk_.error());
    if (result < 0) throw file_.failure(Hdf5Session::reason());
    return result;
  }
  Hdf5Handle handle(hid_t id, Hdf5Handle::Closer closer) const {
    Hdf5Handle made(id, closer);
    check(id);
    return made;
  }

  void open(const ChannelSet& channels) {
    const Hdf5Handle file_access = handle(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    check(use_disk(file_access.get(), disk_));
    h5_ =
        handle(H5Fcreate(file_.temporary().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, file_access.get()),
               H5Fclose);
    text_ = handle(H5Tcopy(H5T_C_S1), H5Tclose);
    check(H5Tset_size(text_.get(), H5T_VARIABLE));
    check(H5Tset_cset(text_.get(), H5T_CSET_UTF8));
    boolean_ = make_boolean();
    runs_ =
        handle(H5Tarray_create2(H5T_NATIVE_INT64, 1, std::array<hsize_t, 1>{2}.data()), H5Tclose);

    // Only whole chunks are written, each once: a cache of them would be memory for nothing.
    access_ = handle(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    check(H5Pset_chunk_cache(access_.get(), 0, 0, 1));

    const Hdf5Handle group = make_group(kGroup);
    set_text(group.get(), "gaps", gaps_ == GapForm::nan ? "nan" : "mask");
    if (gaps_ == GapForm::mask) make_group(kMaskGroup);
    make_group(kRunsGroup);
    const std::size_t memory = array_memory(channels.size());
    channels_.reserve(channels.size());
    for (const Channel& channel : channels) {
      channels_.push_back({channel.name(), ContinuousSeries(channel, gaps_, memory)});
      make_datasets(channel, channels_.back().series);
    }
  }

  // As h5py reads it: numpy's bool.
  [[nodiscard]] Hdf5Handle make_boolean() const {
    Hdf5Handle type = handle(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
    const std::int8_t values[] = {0, 1};
    check(H5Tenum_insert(type.get(), "FALSE", &values[0]));
    check(H5Tenum_insert(type.get(), "TRUE", &values[1]));
    return type;
  }

  Hdf5Handle make_group(const char* name) const {
    return handle(H5Gcreate2(h5_.get(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  }

  static std::string path_of(const std::string& channel, Array array) {
    switch (array) {
      case Array::samples:
        return channel;
      case Array::mask:
        return fmt::format("{}/{}", kMaskGroup, channel);
      case Array::runs:
        break;
    }
    return fmt::format("{}/{}", kRunsGroup, channel);
  }

  void make_datasets(const Channel& channel, const ContinuousSeries& series) const {
    const std::string& name = channel.name();
    const DataType type = stored_type(channel.data_type(), gaps_);
    const Hdf5Handle samples = make_dataset(path_of(name, Array::samples), sample_hdf5_type(type),
                                            series.array(Array::samples), false);
    if (gaps_ == GapForm::mask) {
      make_dataset(path_of(name, Array::mask), boolean_.get(), series.array(Array::mask), true);
    }
    const Hdf5Handle runs =
        make_dataset(path_of(name, Array::runs), runs_.get(), series.array(Array::runs), false);
    set_text(samples.get(), "name", name);
    set_text(samples.get(), "channel", name);
    set_text(samples.get(), "unit", "");
    set_text(samples.get(), "xunit", "s");
    set_number(samples.get(), "dx", 1 / channel.sample_rate().hz());
    set_text(runs.get(), "channel", to_json(channel));
  }

  Hdf5Handle make_dataset(const std::string& name, hid_t type, const ChunkBuffer& array,
                          bool is_compressed) const {
    constexpr unsigned kFastest = 1;
    const hsize_t none = 0;
    const hsize_t unlimited = H5S_UNLIMITED;
    const hsize_t chunk = array.chunk_elements();
    const Hdf5Handle space = handle(H5Screate_simple(1, &none, &unlimited), H5Sclose);
    const Hdf5Handle layout = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    check(H5Pset_chunk(layout.get(), 1, &chunk));
    check(H5Pset_fill_value(layout.get(), type, array.fill().data()));
    if (is_compressed) check(H5Pset_deflate(layout.get(), kFastest));
    return handle(H5Dcreate2(h5_.get(), name.c_str(), type, space.get(), H5P_DEFAULT, layout.get(),
                             access_.get()),
                  H5Dclose);
  }

  [[nodiscard]] Hdf5Handle make_attribute(hid_t object, const char* name, hid_t type) const {
    const Hdf5Handle space = handle(H5Screate(H5S_SCALAR), H5Sclose);
    return handle(H5Acreate2(object, name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  }
  void set_text(hid_t object, const char* name, const std::string& text) const {
    const char* const value = text.c_str();
    check(H5Awrite(make_attribute(object, name, text_.get()).get(), text_.get(), &value));
  }
  void set_number(hid_t object, const char* name, double value) const {
    check(
        H5Awrite(make_attribute(object, name, H5T_NATIVE_DOUBLE).get(), H5T_NATIVE_DOUBLE, &value));
  }

  // Opened for each chunk: what the library keeps of an open one is more than a slow channel's
  // samples of an hour.
  [[nodiscard]] Hdf5Handle open_dataset(const OneChannel& channel, Array array) const {
    return handle(H5Dopen2(h5_.get(), path_of(channel.name, array).c_str(), access_.get()),
                  H5Dclose);
  }

  ContinuousSeries::OnChunk writer_of(const OneChannel& channel) const {
    return [this, &channel](Array array, std::uint64_t number, std::span<const std::byte> bytes) {
      write_chunk(open_dataset(channel, array).get(), number, channel.series.array(array), bytes);
    };
  }

  void write_chunk(hid_t dataset, std::uint64_t number, const ChunkBuffer& array,
                   std::span<const std::byte> bytes) const {
    const hsize_t count = array.chunk_elements();
    const hsize_t first = number * count;
    const hsize_t end = first + count;
    check(H5Dset_extent(dataset, &end));
    const Hdf5Handle type = handle(H5Dget_type(dataset), H5Tclose);
    const Hdf5Handle in_memory = handle(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Hdf5Handle in_file = handle(H5Dget_space(dataset), H5Sclose);
    check(H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr));
    check(H5Dwrite(dataset, type.get(), in_memory.get(), in_file.get(), H5P_DEFAULT, bytes.data()));
  }

  void finish(OneChannel& channel) const {
    channel.series.flush(writer_of(channel));
    for (const Array array : ContinuousSeries::kArrays) {
      if (array == Array::mask && gaps_ != GapForm::mask) continue;
      const Hdf5Handle dataset = open_dataset(channel, array);
      const hsize_t size = channel.series.array(array).size();
      check(H5Dset_extent(dataset.get(), &size));
      if (array != Array::samples) continue;
      const GpsTime start = channel.series.start().value_or(GpsTime());
      set_number(dataset.get(), "x0", nearest_seconds(start));
    }
  }

  void close() {
    for (Hdf5Handle* kept : kept_handles()) check(kept->close());
    check(h5_.close());
  }

  void abandon() {
    for (Hdf5Handle* kept : kept_handles()) kept->close();
    h5_.close();
  }

  std::array<Hdf5Handle*, 4> kept_handles() { return {&text_, &boolean_, &runs_, &access_}; }

  PendingFile& file_;
  GapForm gaps_;
  Hdf5Disk disk_;
  Hdf5Handle h5_;
  Hdf5Handle text_, boolean_, runs_;  // types
  Hdf5Handle access_;                 // how datasets are opened
  std::vector<OneChannel> channels_;
};

}  // namespace

std::unique_ptr<BlockSink> make_hdf5_sink(PendingFile& file, const ChannelSet& channels,
                                          GapForm gaps) {
  return std::make_unique<Hdf5Sink>(file, channels, gaps);
}

}  // namespace arrakis::inline v1
