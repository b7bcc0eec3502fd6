#pragma once

/// -o FILE: blocks into a file.

#include <cstdint>
#include <optional>
#include <string>

#include "arrakis/files.hpp"
#include "arrakis/stream.hpp"
#include "command.hpp"
#include "options.hpp"

namespace arrakis::cli {

class OutputFileOptions {
 public:
  void add_to(OptionAdder& add);
  void check();

  [[nodiscard]] bool given() const { return path_.has_value(); }
  [[nodiscard]] const std::string& path() const { return *path_; }
  [[nodiscard]] FileFormat format() const { return format_; }
  [[nodiscard]] FileOptions options() const;

 private:
  std::optional<std::string> path_, gaps_;
  bool no_overwrite_ = false;
  FileFormat format_ = FileFormat::arrow;
  GapForm gap_form_ = GapForm::mask;
};

/// Writes what the stream gives until it ends, and says in the log what the file holds. On a
/// terminal, progress is shown on standard error where the end of the request is known. When the
/// stream fails, the file keeps what came before, and the failure is thrown. Error(no_data) when
/// nothing came.
void write_stream(Session& session, BlockStream& stream, const StreamRequest& request,
                  const OutputFileOptions& file);
/// Writes one block, and says so in the log.
void write_block(Session& session, const SeriesBlock& block, const OutputFileOptions& file);

}
