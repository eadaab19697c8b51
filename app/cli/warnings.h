// The warnings of one command: what did not stop it but the user should know.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "app/cli/command_options.h"

namespace headwise {

// Prints each warning on stderr as it arises, once, and keeps it for the files and reports that include it.
class Warnings {
 public:
  // Where the next warnings arise: "page 3". Prefixed to them; a warning that arises in several places is reported for the
  // first.
  void set_place(const std::string& place) { place_ = place; }
  void add(const std::string& warning);
  const std::vector<std::string>& all() const { return all_; }

  // Throws Error(input) if `strict` and there is a warning. Call before anything is written.
  void refuse_where(bool strict) const;

 private:
  std::string place_;
  std::set<std::string> said_;
  std::vector<std::string> all_;
};

// Adds --strict with its help. `strict` must outlive parsing.
void add_strict_flag(CommandOptions& options, bool& strict);

}  // namespace headwise
