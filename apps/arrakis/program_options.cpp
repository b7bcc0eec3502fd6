#include "program_options.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "arrakis/version.hpp"
#include "common/help_formatter.hpp"
#include "help_texts.hpp"

namespace arrakis::cli {
namespace {

bool has_value_of_type(const CLI::App& app, std::string_view type) {
  const std::vector<const CLI::Option*> options = described_options(app);
  return std::any_of(options.begin(), options.end(),
                     [&](const CLI::Option* option) { return option->get_type_name() == type; });
}

}  // namespace

ProgramOptions::ProgramOptions()
    : app_("Finds, streams, fetches and publishes timeseries of many channels.", "arrakis") {
  app_.set_version_flag("--version", std::string(version()), "Print the version");
  app_.formatter(std::make_shared<console::HelpFormatter>());
  app_.footer("\n" + std::string(kExitStatusText) + "\n" + std::string(kEnvironmentText));
  app_.require_subcommand(0, 1);
  add_global_options();
  for (const CommandEntry& entry : command_table()) {
    CLI::App* sub = app_.add_subcommand(std::string(entry.name), std::string(entry.summary));
    for (const std::string_view alias : entry.aliases) sub->alias(std::string(alias));
    sub->fallthrough();
    KnownCommand& known = commands_.emplace_back(KnownCommand{&entry, sub, entry.make()});
    OptionAdder add(*sub);
    known.command->add_options(add);
    sub->footer("\n" + details_of(known) + std::string(kGlobalOptionsHint) + "\n" +
                std::string(kExitStatusText));
  }
}

void ProgramOptions::add_global_options() {
  OptionAdder add(app_);
  add.values("-u,--url", globals_.urls, "URL",
             "Server (default: ARRAKIS_SERVER, else grpc://localhost:31206); repeated: others that "
             "know the same, tried in order");
  add.flag("--url-help", globals_.url_help, "Explain URLs");
  add.value("--timeout", globals_.timeout, "SPAN",
            "Limit of each question to a server (default: 30 s)");
  add.flag("-q,--quiet", globals_.quiet, "Log warnings and errors only");
  add.flag("-v,--verbose", globals_.verbose, "Log everything, for debugging");
  add.value("--generate-completion", globals_.completion, "bash", "Print a completion script");
  add.value("--generate-man", globals_.man_pages, "FOLDER", "Write the man pages into FOLDER");
  add.group("Security");
  add.value("--token-file", globals_.token_file, "FILE", "Bearer token (default: discovered)");
  add.value("--token", globals_.token, "TOKEN",
            "Bearer token; other users may see it in the list of processes");
  add.flag("--no-token", globals_.no_token, "Send no token");
  add.value("--ca", globals_.ca, "FILE", "Authorities to trust, PEM, for grpc+tls");
  add.value("--cert", globals_.cert, "FILE", "Certificate of this client, PEM");
  add.value("--key", globals_.key, "FILE", "Key of --cert, PEM");
  add.flag("--insecure", globals_.insecure, "Accept any certificate");
}

KnownCommand* ProgramOptions::find(std::string_view name) {
  const auto it = std::find_if(commands_.begin(), commands_.end(), [&](const KnownCommand& known) {
    const auto& aliases = known.entry->aliases;
    return known.entry->name == name ||
           std::find(aliases.begin(), aliases.end(), name) != aliases.end();
  });
  return it == commands_.end() ? nullptr : &*it;
}

std::vector<const CLI::Option*> described_options(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) {
    return !option->get_description().empty() && !option->get_group().empty();
  });
}

std::string details_of(const KnownCommand& command) {
  std::string text;
  if (has_value_of_type(*command.app, "TIME")) text += kTimesText;
  if (has_value_of_type(*command.app, "SPAN")) text += kSpansText;
  if (command.entry->details.empty()) return text;
  return text.append(command.entry->details).append("\n");
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

}
