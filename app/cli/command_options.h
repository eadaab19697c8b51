// The options of one subcommand: their definitions, parsing, and the help text. The only file that includes
// CLI11, which costs every including file seconds of compile time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headwise {

// A size in pixels, as the command line writes it: 1600x1000.

struct PixelSize {
  int width = 0, height = 0;
};

// The argument of --size. Throws Error(usage), with `example`,
// if it is not a size or a side is outside [least, largest].
PixelSize pixel_size_of(const std::string& word, int least, int largest, const std::string& example);

using Words = std::vector<std::string>;

// How an option that takes a value is written, and how the help describes it.
struct OptionForm {
  std::string type = {};  // "FILE"; TEXT or INT if empty
  bool required = false;
  bool shows_default = false;  // the help shows the variable's current value
  // For an option with a list of values. One value each time it is given, unless:
  bool several_words = false;  // it takes all words up to the next option
  char delimiter = '\0';       // "a,b": two values
  bool arrays = false;         // array files, folders of them, pipes: array_paths of them
  int least = 0, most = 0;     // of a number; any if both are 0
};

class CommandOptions {
 public:
  // The subcommand's name, a one-line description, and its examples, one per line.
  CommandOptions(std::string_view name, std::string_view what, std::string_view examples);
  ~CommandOptions();

  // `names`: "--json", "-o,--output", or "FILE", a positional argument. The variables must outlive parsing.
  void flag(const std::string& names, bool& value, const std::string& what, const std::string& needs = "");
  void value(const std::string& names, std::string& value, const std::string& what,
             const OptionForm& form = {});
  void value(const std::string& names, int& value, const std::string& what, const OptionForm& form = {});
  void values(const std::string& names, std::vector<std::string>& values, const std::string& what,
              const OptionForm& form = {});
  void values(const std::string& names, std::vector<int>& values, const std::string& what,
              const OptionForm& form = {});

  // Reads the arguments after the subcommand's name. False if help was requested, and printed. Throws
  // Error(usage), one line, for anything wrong.
  bool parse(const Words& words);
  // Whether the option was given.
  bool given(const std::string& name) const;
  // The first option, as defined, that was given and is none of these; empty if there is none.
  std::string given_option_outside(const std::vector<std::string>& names) const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace headwise
