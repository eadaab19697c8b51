// What the opening scene shows: a sentence, the row of attention weights that tells what one of its words
// stands for, and what the model predicts there with and without that head.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/session/computation.h"
#include "core/model/heads/head_survey.h"

namespace headwise {

// The sentence in its two versions, and the head that attends to another word in each: measured, not named.
struct OpeningSubject {
  Scenario scenario;                // the first version, at the layer of the head
  std::array<std::string, 2> swap;  // the words that differ: "tired", "wide"
  SwitchingHead found = {};
  Index model_heads = 0;  // of all layers
};
// Of the welcome scenario; nullopt if no head of its model switches between the versions.
std::optional<OpeningSubject> opening_subject();

// Which version of the subject's sentence a scenario computes, 0 or 1; nullopt: another text, layer or model.
std::optional<std::size_t> opening_version(const OpeningSubject& subject, const Scenario& scenario);
// The scenario with the other version of the sentence; unchanged if it computes neither.
Scenario with_other_version(const OpeningSubject& subject, const Scenario& scenario);

struct OpeningWord {
  std::string text;
  Index position = 0;   // in the trace
  double weight = 0.0;  // of the row, in [0,1]
};

struct OpeningRow {
  std::vector<OpeningWord> words;        // of the sentence, without [CLS] and [SEP]
  std::size_t query = 0, strongest = 0;  // places in `words`
  std::size_t swapped = 0;               // the place of the word that the other version exchanges
  std::string other_word;                // for this one
  // What the model predicts at the query, most probable; empty if it predicts no words.
  std::string predicted;
  double probability = 0.0;
  std::string without_head;               // predicted there while the head is muted
  double probability_without_head = 0.0;  // of that
};

// Of a computation of the subject, in either version; nullopt for any other.
// Computes the trace without the head as well.
std::optional<OpeningRow> opening_row(const OpeningSubject& subject, const ComputationPtr& computation);

}  // namespace headwise
