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
    ContinuousSeries series;
    std::array<Hdf5Handle, std::size(ContinuousSeries::kArrays)> datasets;

    Hdf5Handle& dataset(Array array) { return datasets[static_cast<std::size_t>(array)]; }
  };

  template <typename T>
  T check(T result) const {
    if (result < 0) throw file_.failure(Hdf5Session::reason());
    return result;
  }
  Hdf5Handle handle(hid_t id, Hdf5Handle::Closer closer) const { return {check(id), closer}; }

  void open(const ChannelSet& channels) {
    h5_ = handle(H5Fcreate(file_.temporary().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                 H5Fclose);
    text_ = handle(H5Tcopy(H5T_C_S1), H5Tclose);
    check(H5Tset_size(text_.get(), H5T_VARIABLE));
    check(H5Tset_cset(text_.get(), H5T_CSET_UTF8));
    boolean_ = make_boolean();
    runs_ =
        handle(H5Tarray_create2(H5T_NATIVE_INT64, 1, std::array<hsize_t, 1>{2}.data()), H5Tclose);

    const Hdf5Handle group = make_group(kGroup);
    set_text(group.get(), "gaps", gaps_ == GapForm::nan ? "nan" : "mask");
    if (gaps_ == GapForm::mask) make_group(kMaskGroup);
    make_group(kRunsGroup);
    const std::size_t memory = array_memory(channels.size());
    channels_.reserve(channels.size());
    for (const Channel& channel : channels) {
      channels_.push_back({ContinuousSeries(channel, gaps_, memory), {}});
      make_datasets(channel, channels_.back());
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

  void make_datasets(const Channel& channel, OneChannel& one) const {
    const std::string& name = channel.name();
    const DataType type = stored_type(channel.data_type(), gaps_);
    one.dataset(Array::samples) =
        make_dataset(name, sample_hdf5_type(type), one.series.array(Array::samples), false);
    if (gaps_ == GapForm::mask) {
      one.dataset(Array::mask) = make_dataset(fmt::format("{}/{}", kMaskGroup, name),
                                              boolean_.get(), one.series.array(Array::mask), true);
    }
    one.dataset(Array::runs) = make_dataset(fmt::format("{}/{}", kRunsGroup, name), runs_.get(),
                                            one.series.array(Array::runs), false);
    const hid_t samples = one.dataset(Array::samples).get();
    set_text(samples, "name", name);
    set_text(samples, "channel", name);
    set_text(samples, "unit", "");
    set_text(samples, "xunit", "s");
    set_number(samples, "dx", 1 / channel.sample_rate().hz());
    set_text(one.dataset(Array::runs).get(), "channel", to_json(channel));
  }

  [[nodiscard]] Hdf5Handle make_dataset(const std::string& name, hid_t type,
                                        const ChunkBuffer& array, bool is_compressed) const {
    constexpr unsigned kFastest = 1;
    const hsize_t none = 0;
    const hsize_t unlimited = H5S_UNLIMITED;
    const hsize_t chunk = array.chunk_elements();
    const Hdf5Handle space = handle(H5Screate_simple(1, &none, &unlimited), H5Sclose);
    const Hdf5Handle layout = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    check(H5Pset_chunk(layout.get(), 1, &chunk));
    check(H5Pset_fill_value(layout.get(), type, array.fill().data()));
    if (is_compressed) check(H5Pset_deflate(layout.get(), kFastest));
    // Only whole chunks are written, each once: a cache of them would be memory for nothing.
    const Hdf5Handle access = handle(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    check(H5Pset_chunk_cache(access.get(), 0, 0, 1));
    return handle(H5Dcreate2(h5_.get(), name.c_str(), type, space.get(), H5P_DEFAULT, layout.get(),
                             access.get()),
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

  ContinuousSeries::OnChunk writer_of(OneChannel& channel) const {
    return [this, &channel](Array array, std::uint64_t number, std::span<const std::byte> bytes) {
      write_chunk(channel.dataset(array).get(), number, channel.series.array(array), bytes);
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
      const hid_t dataset = channel.dataset(array).get();
      const hsize_t size = channel.series.array(array).size();
      if (dataset >= 0) check(H5Dset_extent(dataset, &size));
    }
    const GpsTime start = channel.series.start().value_or(GpsTime());
    set_number(channel.dataset(Array::samples).get(), "x0", nearest_seconds(start));
  }

  void close() {
    for (OneChannel& channel : channels_) {
      for (Hdf5Handle& dataset : channel.datasets) check(dataset.close());
    }
    for (Hdf5Handle* type : {&text_, &boolean_, &runs_}) check(type->close());
    check(h5_.close());
  }

  void abandon() {
    channels_.clear();
    for (Hdf5Handle* handle : {&text_, &boolean_, &runs_, &h5_}) handle->close();
  }

  PendingFile& file_;
  GapForm gaps_;
  Hdf5Handle h5_;
  Hdf5Handle text_, boolean_, runs_;  // types
  std::vector<OneChannel> channels_;
};

}  // namespace

std::unique_ptr<BlockSink> make_hdf5_sink(PendingFile& file, const ChannelSet& channels,
                                          GapForm gaps) {
  return std::make_unique<Hdf5Sink>(file, channels, gaps);
}

}  // namespace arrakis::inline v1
