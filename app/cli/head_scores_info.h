// What `headwise info FOLDER --text` says of the heads of a model.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/cli/warnings.h"

namespace headwise {

struct HeadsInfoRequest {
  std::string model, text;
  bool mute = false;    // each head in turn
  bool strict = false;  // warnings are errors
};

// A line a head, with the scores of core/model/heads/head_scores.h. Both throw Error(input) where text cannot go into the model.
// Where muting is asked for and the model predicts no words, the table comes without it, and a warning and "not_muted" say
// why; where the request is strict that is an Error(input) too, and so is what there is to say of the text.
std::string heads_info_text(const HeadsInfoRequest& request);
nlohmann::ordered_json heads_info_json(const HeadsInfoRequest& request);

}  // namespace headwise
