#include "files/pending_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include "core/quote.hpp"

namespace arrakis::inline v1 {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxAttempts = 100;
constexpr mode_t kAnyone = 0666;  // the process's mask takes away what it must

std::string reason_of(int error_number) {
  return std::error_code(error_number, std::generic_category()).message();
}

// A name that no reader takes for data, short enough whatever the file's own name is.
std::string temporary_name() {
  static std::atomic<unsigned> counter{0};
  return fmt::format(".arrakis-{}-{}.part", ::getpid(), counter.fetch_add(1));
}

// Makes a new file in `folder`; with an errno where that fails.
std::pair<Descriptor, fs::path> make_new(const fs::path& folder) {
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    fs::path path = folder / temporary_name();
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kAnyone));
    if (file || errno != EEXIST) return {std::move(file), std::move(path)};
  }
  return {};
}

fs::path behind_links(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  return error ? path : real;
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

void Descriptor::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

int Descriptor::write_at(std::uint64_t& offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    offset += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

int Descriptor::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : EIO;
    offset += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return 0;
}

PendingFile::PendingFile(const fs::path& path, bool overwrite)
    : asked_(path), target_(behind_links(path)), overwrite_(overwrite) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) {
    if (!S_ISREG(found.st_mode)) {
      throw failure("it is there and is not an ordinary file; name another one");
    }
    if (!overwrite) throw failure("it is there already; remove it, or allow it to be replaced");
  }
  auto [file, temporary] = make_new(folder_of(target_));
  if (!file) throw failure(errno);
  file_ = std::move(file);
  temporary_ = std::move(temporary);
}

PendingFile::~PendingFile() {
  if (!is_committed_) ::unlink(temporary_.c_str());
}

void PendingFile::write(std::span<const std::byte> bytes) {
  if (const int error = file_.write_at(size_, bytes)) throw failure(error);
}

void PendingFile::truncate(std::uint64_t size) {
  if (::ftruncate(file_.get(), static_cast<off_t>(size)) != 0) throw failure(errno);
  size_ = size;
}

void PendingFile::commit() {
  // Else a crash of the machine may leave the name on a file that is still empty. Opened anew,
  // because who writes by name may have put another file there.
  const Descriptor written(::open(temporary_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!written || ::fsync(written.get()) != 0) throw failure(errno);
  rename_to_target();
  is_committed_ = true;
  file_.reset();
}

void PendingFile::rename_to_target() const {
  int result = 0;
  if (overwrite_) {
    result = ::rename(temporary_.c_str(), target_.c_str());
  } else {
    result = ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE);
    const bool is_unknown_here = result != 0 && (errno == EINVAL || errno == ENOSYS);
    if (is_unknown_here) {
      std::error_code error;
      if (fs::exists(target_, error)) throw failure(EEXIST);
      result = ::rename(temporary_.c_str(), target_.c_str());
    }
  }
  if (result != 0) throw failure(errno);
}

Descriptor PendingFile::make_scratch() const {
  auto [file, path] = make_new(folder_of(target_));
  if (!file) throw failure(errno);
  ::unlink(path.c_str());
  return std::move(file);
}

Error PendingFile::failure(std::string_view reason) const {
  return {Errc::io,
          fmt::format("{} could not be written: {}", arrakis::quoted(asked_.string()), reason)};
}

Error PendingFile::failure(int error_number) const { return failure(reason_of(error_number)); }

}  // namespace arrakis::inline v1
