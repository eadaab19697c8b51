// A sentence in less room than it needs: its last clauses are left out whole, so that no word is cut.
#pragma once

#include <string>

struct ImFont;

namespace headwise {

// The longest prefix that ends at a clause boundary and is at most `width` pixels wide: "when are the heads
// split? here, after the projection, and no number changes" → "when are the heads split?". A question stays
// one: "how alike are they, in this head's columns?" → "how alike are they?".
// Empty if not even the first clause fits.
std::string fitted_clauses(const std::string& text, const ImFont* font, float width);

}  // namespace headwise
