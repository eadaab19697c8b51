// The sentence of a text to show beside a result.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace headwise {

// Returns the sentence with most of the words that were searched for (SearchFound::stems), the first of
// equals; the first sentence if none has any. One with a number left out ("…") is none: it is of no use to a
// reader. Empty if there is no other. Lines are sentences of their own. One line,
// without the blanks around it.
std::string search_passage(std::string_view text, std::span<const std::string> stems);

}  // namespace headwise
