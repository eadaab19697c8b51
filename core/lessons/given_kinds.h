// What each kind of answer does with what was given. Private to core/lessons: columns of the table of kinds
// (answer_kinds.cpp).
#pragma once

#include <optional>
#include <string>

#include "core/files/json_value.h"
#include "core/lessons/given_answer.h"
#include "core/lessons/homework.h"

namespace headwise {

struct GivenKind {
  // How a homework writes it. Throws what a JsonValue refuses.
  WrittenAnswer (*written)(const JsonValue&);
  // As AnsweredQuestion::given
  std::optional<GivenAnswer> (*read)(const WrittenAnswer&, const AnsweredQuestion&);
  std::optional<bool> (*right)(const PageAnswer&, const AnswerKey&, const GivenAnswer&);
  std::string (*words)(const PageWords&, const GivenAnswer&);
};

extern const GivenKind number_given, choice_given, shape_given, head_given, cell_given, tensor_given,
    weights_given, mask_given;
const GivenKind& given_kind(AnswerKind kind);  // of the table

}  // namespace headwise
