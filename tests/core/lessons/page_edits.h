// Every single edit of a page: each setting of the schema to its other choices, sizes halved and doubled,
// heads muted and frozen, cells set, other texts, other masks, another model.
#pragma once

#include <string>
#include <vector>

#include "core/attention/trace.h"
#include "core/scenario/scenario.h"

namespace headwise::lessons_test {

struct PageEdit {
  std::string what;  // "attention.num_heads 8 → 4"
  Scenario scenario;
};

// The page as it is comes first. Some edits make no valid scenario. `trace`: the page's own.
std::vector<PageEdit> page_edits(const Scenario& page, const Trace& trace);

}  // namespace headwise::lessons_test
