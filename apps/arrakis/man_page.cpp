#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "arrakis/version.hpp"
#include "help_texts.hpp"
#include "program_options.hpp"

namespace arrakis::cli {
namespace {

/// Text that roff takes as it is.
std::string escaped(std::string_view text) {
  std::string result;
  if (!text.empty() && (text[0] == '.' || text[0] == '\'')) result += "\\&";
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result;
}

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return result;
}

std::string title(std::string_view page) {
  return fmt::format(R"(.TH {} 1 "" "arrakis {}" "Arrakis")", upper(page), version()) + "\n";
}

/// "--url", "-u" with the name of the value, as one line.
std::string term(const CLI::Option& option) {
  if (option.get_positional()) return fmt::format("\\fI{}\\fR", escaped(option.get_name(true)));
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("\\fB\\-" + name + "\\fR");
  for (const std::string& name : option.get_lnames()) {
    names.push_back(R"(\fB\-\-)" + escaped(name) + "\\fR");
  }
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (!option.get_type_name().empty()) {
    text += fmt::format(" \\fI{}\\fR", escaped(option.get_type_name()));
  }
  return text;
}

/// The options under their headings; what takes no heading comes first.
std::string options_text(const CLI::App& app) {
  std::vector<std::string> groups;
  for (const CLI::Option* option : described_options(app)) {
    if (std::find(groups.begin(), groups.end(), option->get_group()) == groups.end()) {
      groups.push_back(option->get_group());
    }
  }
  std::string text;
  for (const std::string& group : groups) {
    text += group == "Options" ? ".SH OPTIONS\n" : ".SS " + escaped(group) + "\n";
    for (const CLI::Option* option : described_options(app)) {
      if (option->get_group() != group) continue;
      text += ".TP\n" + term(*option) + "\n" + escaped(option->get_description()) + "\n";
    }
  }
  return text;
}

/// A text of help_texts: its headings become sections, its indented lines stay as they are.
std::string sections(std::string_view help) {
  std::istringstream lines{std::string(help)};
  std::string text;
  bool filled = true;
  for (std::string line; std::getline(lines, line);) {
    const bool indented = !line.empty() && line[0] == ' ';
    const bool heading = !indented && !line.empty() && line.back() == ':';
    if (!line.empty() && filled == indented) {
      text += indented ? ".nf\n" : ".fi\n";
      filled = !indented;
    }
    if (heading) {
      text += ".SH " + upper(line.substr(0, line.size() - 1)) + "\n";
    } else if (line.empty()) {
      text += ".PP\n";
      filled = true;
    } else {
      text += escaped(line) + "\n";
    }
  }
  return text + (filled ? "" : ".fi\n");
}

std::string positional_names(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name = "\\fI" + escaped(option->get_name(true)) + "\\fR";
    text += " " + (option->get_required() ? name : "[" + name + "]");
    if (option->get_items_expected_max() > 1) text += "...";
  }
  return text;
}

}  // namespace

std::string man_page(ProgramOptions& options) {
  std::string text = title("arrakis");
  text += ".SH NAME\narrakis \\- " + escaped("find, stream, fetch and publish timeseries") + "\n";
  text += ".SH SYNOPSIS\n.B arrakis\n[\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n";
  text += ".SH DESCRIPTION\n" + escaped(options.app().get_description()) + "\n";
  text += ".SH COMMANDS\n";
  for (const KnownCommand& known : options.commands()) {
    text += fmt::format(".TP\n\\fB{}\\fR\n{}; see \\fBarrakis\\-{}\\fR(1)\n",
                        escaped(known.entry->name), escaped(known.app->get_description()),
                        escaped(known.entry->name));
  }
  return text + options_text(options.app()) + sections(kUrlText) + sections(kExitStatusText) +
         sections(kEnvironmentText);
}

std::string man_page(const KnownCommand& command) {
  const std::string name = escaped(command.entry->name);
  std::string text = title(fmt::format("arrakis-{}", command.entry->name));
  text +=
      fmt::format(".SH NAME\narrakis\\-{} \\- {}\n", name, escaped(command.app->get_description()));
  text += fmt::format(".SH SYNOPSIS\n.B arrakis {}\n[\\fIOPTIONS\\fR]{}\n", name,
                      positional_names(*command.app));
  text += options_text(*command.app) + sections(details_of(command));
  text += ".SH GLOBAL OPTIONS\n" + escaped(kGlobalOptionsHint);
  return text + sections(kExitStatusText) + ".SH SEE ALSO\n\\fBarrakis\\fR(1)\n";
}

}
