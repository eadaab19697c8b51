// What the parts of the lessons' captions claim, each with a check that computes it in its own way.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/core/lessons/seen_page.h"

namespace headwise::lessons_test {

struct PageClaim {
  std::string words;  // a part of a caption that contains them makes the claim
  std::function<bool(const SeenPage&)> holds;
};

std::span<const PageClaim> page_claims();
// Those among them of the pages whose models are trained when they open.
std::vector<PageClaim> training_claims();
// Those of the lesson on what changed since 2017, and those among them of its pages from the cap on.
std::vector<PageClaim> since_claims();
std::vector<PageClaim> since_softmax_claims();
// Those of pages about a relative bias, a past, latents and an indexer.
std::vector<PageClaim> option_claims();
// Those of the questions about conventions: an order, a factor, a place, what a window counts.
std::vector<PageClaim> convention_claims();

}  // namespace headwise::lessons_test
