// Where in a training the model stands that the window shows; kept from frame to frame.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/files/model_checkpoints.h"

namespace headwise {

struct PlaceInTraining {
  std::string of;                            // the path of the model that this was looked up for
  std::vector<ModelCheckpoint> checkpoints;  // beside it in its folder, itself among them
  bool can_go_on = false;                    // the training can be gone on with: Headwise wrote them
  std::string folder;  // where the watched training's models are written that are looked into; empty: none yet
  int number = 0;      // LiveTraining::number() of that training
  std::size_t run = 0;
  std::optional<Index> target;  // a step of the watched training that was asked for and is not computed yet
};

}  // namespace headwise
