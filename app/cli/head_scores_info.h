// What `headwise info FOLDER --text` prints about the heads of a model.
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

// One line per head, with the scores of core/model/heads/head_scores.h. Both throw Error(input) if text cannot go into the
// model. If muting is requested and the model predicts no tokens, the table comes without it, and a warning and "not_muted"
// say why; if the request is strict, that is an Error(input) too, as are remarks about the text.
std::string heads_info_text(const HeadsInfoRequest& request);
nlohmann::ordered_json heads_info_json(const HeadsInfoRequest& request);

}  // namespace headwise
