#include "files/hdf5_disk.hpp"

#if H5_VERSION_GE(1, 13, 2)
#include <H5FDdevelop.h>
#endif
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "files/pending_file.hpp"

namespace arrakis::inline v1 {
namespace {

// What a property list carries for us; the library copies it as bytes.
struct DiskProperty {
  Hdf5Disk* disk;
};

/// The library's view of an open file: its own part comes first.
struct OpenFile : H5FD_t {
  Hdf5Disk* disk = nullptr;
  Descriptor file;
  haddr_t end_of_addresses = 0;
  haddr_t end_of_file = 0;
  std::map<haddr_t, std::vector<std::byte>> unwritten;  // since the disk failed
};

OpenFile& ours(H5FD_t* file) { return *static_cast<OpenFile*>(file); }
const OpenFile& ours(const H5FD_t* file) { return *static_cast<const OpenFile*>(file); }

H5FD_t* open_file(const char* name, unsigned /*flags*/, hid_t access, haddr_t /*greatest*/) {
  const auto* property = static_cast<const DiskProperty*>(H5Pget_driver_info(access));
  if (property == nullptr) return nullptr;
  auto file = std::unique_ptr<OpenFile>(new (std::nothrow) OpenFile());
  if (file == nullptr) return nullptr;
  file->disk = property->disk;
  file->file = Descriptor(::open(name, O_RDWR | O_CLOEXEC | O_TRUNC));
  if (!file->file) {
    file->disk->fail(errno);
    return nullptr;
  }
  return file.release();
}

herr_t close_file(H5FD_t* file) {
  const std::unique_ptr<OpenFile> closed(&ours(file));
  return 0;
}

int compare_files(const H5FD_t* a, const H5FD_t* b) {
  if (a == b) return 0;
  return std::less<>()(a, b) ? -1 : 1;
}

herr_t query_features(const H5FD_t* /*file*/, unsigned long* flags) {  // NOLINT(google-runtime-int)
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

haddr_t end_of_addresses(const H5FD_t* file, H5FD_mem_t /*kind*/) {
  return ours(file).end_of_addresses;
}
herr_t set_end_of_addresses(H5FD_t* file, H5FD_mem_t /*kind*/, haddr_t end) {
  ours(file).end_of_addresses = end;
  return 0;
}
haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t /*kind*/) { return ours(file).end_of_file; }

// Puts what is only remembered over what was read.
void overlay(const OpenFile& file, haddr_t address, std::span<std::byte> bytes) {
  for (const auto& [at, kept] : file.unwritten) {
    const haddr_t first = std::max(at, address);
    const haddr_t last = std::min(at + kept.size(), address + bytes.size());
    if (first >= last) continue;
    std::memcpy(bytes.data() + (first - address), kept.data() + (first - at), last - first);
  }
}

herr_t read_file(H5FD_t* file, H5FD_mem_t /*kind*/, hid_t /*properties*/, haddr_t address,
                 std::size_t size, void* data) {
  OpenFile& open = ours(file);
  const std::span bytes(static_cast<std::byte*>(data), size);
  std::memset(data, 0, size);
  const haddr_t end = std::max(address, std::min<haddr_t>(address + size, open.end_of_file));
  const int error = open.file.read_at(address, bytes.first(end - address));
  if (error != 0 && open.disk->error() == 0) {
    open.disk->fail(error);
    return -1;
  }
  overlay(open, address, bytes);
  return 0;
}

herr_t remember(OpenFile& file, haddr_t address, std::span<const std::byte> bytes) {
  try {
    file.unwritten[address].assign(bytes.begin(), bytes.end());
  } catch (const std::bad_alloc&) {
    return -1;
  }
  return 0;
}

herr_t write_file(H5FD_t* file, H5FD_mem_t /*kind*/, hid_t /*properties*/, haddr_t address,
                  std::size_t size, const void* data) {
  OpenFile& open = ours(file);
  const std::span bytes(static_cast<const std::byte*>(data), size);
  if (open.disk->error() == 0) {
    std::uint64_t end = address;
    const int error = open.file.write_at(end, bytes);
    open.end_of_file = std::max<haddr_t>(open.end_of_file, end);
    if (error == 0) return 0;
    open.disk->fail(error);
  }
  return remember(open, address, bytes);
}

herr_t truncate_file(H5FD_t* file, hid_t /*properties*/, hbool_t /*closing*/) {
  OpenFile& open = ours(file);
  if (open.disk->error() == 0 &&
      ::ftruncate(open.file.get(), static_cast<off_t>(open.end_of_addresses)) != 0) {
    open.disk->fail(errno);
  }
  open.end_of_file = open.end_of_addresses;
  return 0;
}

H5FD_class_t driver_class() {
  H5FD_class_t driver{};
#ifdef H5FD_CLASS_VERSION
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(512);  // of those that are nobody's
#endif
  driver.name = "arrakis";
  driver.maxaddr = static_cast<haddr_t>(INT64_MAX);
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(DiskProperty);
  driver.open = open_file;
  driver.close = close_file;
  driver.cmp = compare_files;
  driver.query = query_features;
  driver.get_eoa = end_of_addresses;
  driver.set_eoa = set_end_of_addresses;
  driver.get_eof = end_of_file;
  driver.read = read_file;
  driver.write = write_file;
  driver.truncate = truncate_file;
  return driver;
}

}  // namespace

herr_t use_disk(hid_t access, Hdf5Disk& disk) {
  static const H5FD_class_t kDriver = driver_class();
  const Hdf5Handle driver(H5FDregister(&kDriver), H5FDunregister);
  if (driver.get() < 0) return -1;
  const DiskProperty property{&disk};
  return H5Pset_driver(access, driver.get(), &property);  // the list keeps the driver
}

}  // namespace arrakis::inline v1
