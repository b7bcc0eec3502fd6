#include "client/channel_listing.hpp"

#include <algorithm>
#include <utility>

#include "arrakis/error.hpp"
#include "core/logging.hpp"
#include "core/quote.hpp"
#include "wire/metadata_rows.hpp"

namespace arrakis::inline v1 {
namespace {

/// Servers send batches of so many rows; one that sends greater ones is read in pieces.
constexpr std::int64_t kMaxRows = 1000;
constexpr std::string_view kFind = "find";

}  // namespace

void ChannelListing::Impl::open(FlightEndpoints endpoints, const CallDeadline& deadline) {
  endpoints_ = std::move(endpoints);
  opened_ = 0;
  if (!endpoints_.endpoints.empty()) open_next(deadline);
}

void ChannelListing::Impl::open_next(const CallDeadline& deadline) {
  rows_ = calls_->open(endpoints_.endpoints[opened_], endpoints_.asked, kFind, deadline, &guard_);
  ++opened_;
}

std::vector<Channel> ChannelListing::Impl::next() {
  try {
    while (batch_ != nullptr || read()) {
      std::vector<Channel> channels = take();
      if (!channels.empty()) return channels;
    }
  } catch (const Error& error) {
    rethrow(error);
  }
  return {};
}

bool ChannelListing::Impl::read() {
  if (guard_.is_cancelled()) throw Error(Errc::cancelled, "find: cancelled");
  while (true) {
    if (rows_ == nullptr) {
      if (opened_ == endpoints_.endpoints.size()) return false;
      open_next(calls_->deadline());
    }
    const CallGuard::Limit limit(guard_, calls_->connector()->timeout());
    try {
      batch_ = rows_->next();
    } catch (const Error&) {
      if (!limit.is_over()) throw;
      throw Error(Errc::timeout, "find: the server stopped in the middle of its answer");
    }
    taken_ = 0;
    if (batch_ != nullptr) return true;
    rows_.reset();
    if (opened_ == endpoints_.endpoints.size()) report_refused();
  }
}

std::vector<Channel> ChannelListing::Impl::take() {
  const auto piece = batch_->Slice(taken_, kMaxRows);
  MetadataRows rows = read_metadata(*piece, rows_->what());
  taken_ += piece->num_rows();
  if (taken_ >= batch_->num_rows()) batch_.reset();
  if (refused_ == 0 && !rows.refused.empty()) {
    log::warning("client", "find: channel {} is left out: {}",
                 arrakis::quoted(rows.refused.front().name), rows.refused.front().reason);
  }
  refused_ += rows.refused.size();
  return std::move(rows.channels);
}

void ChannelListing::Impl::report_refused() const {
  if (refused_ > 1) log::warning("client", "find: {} channels were left out", refused_);
}

void ChannelListing::Impl::rethrow(const Error& error) {
  // The reader was ended on purpose, whatever it says of it.
  if (guard_.is_cancelled()) throw Error(Errc::cancelled, "find: cancelled");
  throw error;
}

ChannelListing::ChannelListing(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChannelListing::ChannelListing(ChannelListing&&) noexcept = default;
ChannelListing& ChannelListing::operator=(ChannelListing&&) noexcept = default;
ChannelListing::~ChannelListing() = default;
std::vector<Channel> ChannelListing::next() { return impl_->next(); }
void ChannelListing::cancel() { impl_->cancel(); }

}  // namespace arrakis::inline v1
