// The values of a page's keys, and what may be wrong with an answer. Private to core/lessons. Every function
// throws Error(usage), one sentence that begins with the place,
// for a value of the wrong type or out of range.
#pragma once

#include <string>

#include "core/attention/cell_provenance.h"
#include "core/lessons/playlist.h"
#include "core/scenario/json_document.h"
#include "core/tensor/error.h"

namespace headwise {

TensorName tensor_of(const JsonValue& value);
// The key "answer". In a draft, what is still being written is read as it is.
PageAnswer answer_of(const JsonValue& json, bool draft);
nlohmann::ordered_json answer_json(const PageAnswer& answer);

// Where an answer is written: in a file, whose places are told, or in the fields of the editor.
struct WrittenPlace {
  std::string file;  // where it stands there; empty: in the editor

  template <class Check>
  void check(const std::string& key, Check check) const {
    try {
      check();
    } catch (const Error& error) {
      if (file.empty()) throw;
      throw Error(ExitStatus::usage, {.where = file + key, .what = error.what()});
    }
  }

  // In the editor, a sentence; in a file, what and where. The reader already refuses what has no such parts.
  [[noreturn]] void refuse(const std::string& sentence, ErrorParts in_file = {}) const {
    if (file.empty()) in_file = {.what = sentence};
    in_file.where = file + in_file.where;
    throw Error(ExitStatus::usage, in_file);
  }
};

bool is_blank(const std::string& text);

// What is wrong with an answer as it is written, whatever the trace: an expression that cannot be read or
// reads nothing of the page ("0 * E + 5" is a constant too), an option without a text.
// They throw Error(usage).
void check_number(const PageAnswer& answer, const WrittenPlace& place);
void check_choice(const PageAnswer& answer, const WrittenPlace& place);
void check_shape(const PageAnswer& answer, const WrittenPlace& place);
void check_head(const PageAnswer& answer, const WrittenPlace& place);
void check_cell(const PageAnswer& answer, const WrittenPlace& place);
void check_tensors(const PageAnswer& answer, const WrittenPlace& place);
void check_weights(const PageAnswer& answer, const WrittenPlace& place);
void check_mask(const PageAnswer& answer, const WrittenPlace& place);

}  // namespace headwise
