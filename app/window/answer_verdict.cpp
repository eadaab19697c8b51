#include "app/window/answer_verdict.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "app/session/commands.h"
#include "core/answers/live_text.h"
#include "core/tensor/join.h"
#include "core/trace/tensor_names.h"

namespace headwise {
namespace {

// Design units; a button is as high and as wide as app/widgets/button.h makes it.
constexpr float piece_height = 26, between_pieces = 6, typed_width = 120, note_air = 13, field_air = 14;
constexpr float usual_number = 15;  // the type of a field that is typed_width wide
constexpr Index most_head_buttons = 64;

ImVec2 piece_size(const Fonts& fonts, float scale, float wrap, HallUnits hall, const Piece& piece) {
  if (is_button(piece.kind)) return piece.shape.size;
  if (piece.kind == PieceKind::field) {
    ImFont* font = field_font(fonts, hall);
    const float width = std::round(typed_width * std::max(1.0f, hall / usual_number) * scale);
    return {std::min(width, wrap),
            std::round(hall > 0 ? font->FontSize + field_air * scale : piece_height * scale)};
  }
  const ImVec2 text = size_in(piece.shape.type, wrap, piece.text);
  return {std::ceil(text.x), std::round(text.y + note_air * scale)};
}

}  // namespace

bool is_button(PieceKind kind) {
  return kind != PieceKind::field && kind != PieceKind::note && kind != PieceKind::error;
}

std::vector<Piece> listed_pieces(const PlaylistWalk& walk) {
  std::vector<Piece> pieces;
  const PageAnswer& answer = *walk.shown()->answer;
  const auto add = [&](PieceKind kind, std::string text, Index index = 0) {
    pieces.push_back({kind, std::move(text), index});
  };
  switch (answer.kind) {
    case AnswerKind::choice:
    case AnswerKind::tensor:
      for (std::size_t i = 0; i < walk.words.options.size(); ++i)
        add(PieceKind::option, fmt::format("{}   {}", i + 1, walk.words.options[i]), static_cast<Index>(i));
      if (answer.kind == AnswerKind::tensor) add(PieceKind::note, "or click it on the stage");
      break;
    case AnswerKind::head: {
      const Index heads = walk.words.trace ? walk.words.trace->options.num_heads : 0;
      for (Index head = 0; head < std::min(heads, most_head_buttons); ++head)
        add(PieceKind::head, std::to_string(head), head);
      add(PieceKind::note, "or click one on the stage");
      break;
    }
    case AnswerKind::cell:
      add(PieceKind::note, fmt::format("click a cell of {}; by keys: Enter, the arrows, Enter",
                                       tensor_entry(*answer.tensor).name));
      break;
    case AnswerKind::weights:
      add(PieceKind::give, "answer");
      add(PieceKind::scale, "scale to 1");
      break;
    case AnswerKind::mask:
      add(PieceKind::give, "answer");
      add(PieceKind::note,
          fmt::format(
              "paint the blocked pairs on the map, then answer ({}); by keys: Enter, the arrows, Enter",
              first_key_text(CommandId::next_page)));
      break;
    case AnswerKind::number:
    case AnswerKind::shape:
      add(PieceKind::field, "");
      if (!answer.unit.empty()) add(PieceKind::note, answer.unit);
      add(PieceKind::give, "answer");
      if (walk.given.unreadable)
        add(PieceKind::error, answer.kind == AnswerKind::shape ? unreadable_shape : unreadable_number);
      break;
  }
  add(PieceKind::show, answer_hint);
  return pieces;
}

Type control_type(const Fonts& fonts, float scale, HallUnits hall, const std::string& text) {
  return hall > 0 ? type_at(fonts, scale, hall, text) : own_size(fonts.small);
}

ImFont* field_font(const Fonts& fonts, HallUnits hall) {
  return hall >= 24 ? fonts.formula : hall >= 18 ? fonts.caption : fonts.sans;
}

std::vector<Piece> placed_pieces(const Fonts& fonts, float scale, float wrap, const PlaylistWalk& walk,
                                 HallUnits hall, float& height) {
  std::vector<Piece> pieces = listed_pieces(walk);
  const float gap = std::round(between_pieces * scale);
  float in_one_line = -gap;
  for (Piece& piece : pieces) {
    const Type type = control_type(fonts, scale, hall, piece.text);
    if (is_button(piece.kind))
      piece.shape = button_shape(scale, type, wrap, piece.text);
    else
      piece.shape = {type, {}};
    piece.shape.size = piece_size(fonts, scale, wrap, hall, piece);
    if (piece.kind == PieceKind::option) in_one_line += piece.shape.size.x + gap;
  }
  ImVec2 at{0, 0};
  float line = 0.0f;
  const auto next_line = [&] {
    if (at.x > 0) at = {0, at.y + line + gap};
    line = 0.0f;
  };
  for (Piece& piece : pieces) {
    piece.own_line = hall > 0 && piece.kind == PieceKind::option && in_one_line > wrap;
    if (piece.own_line) piece.shape.size.x = std::floor(wrap);
    if (piece.own_line || at.x + piece.shape.size.x > wrap) next_line();
    piece.at = at;
    at.x += piece.shape.size.x + gap;
    line = std::max(line, piece.shape.size.y);
    if (piece.own_line) next_line();
  }
  next_line();
  height = at.y;
  return pieces;
}

namespace {

std::string number_words(double number) {
  const double size = std::abs(number);
  if (number != std::floor(number) || size >= 1e9) return live_number(number);
  return fmt::format("{}{:.0f}", number < 0.0 ? "−" : "", size);
}

std::string with_unit(const std::string& number, const PageAnswer& answer) {
  return answer.unit.empty() ? number : number + " " + answer.unit;
}

// With the author's reason behind it, if there is one.
std::string with_why(const std::string& verdict, const std::string& why) {
  return verdict.empty() || why.empty() ? verdict : verdict + " " + why;
}

// "1, “at ‘animal’”": what it quotes itself stands in single marks.
std::string named_option(const PageWords& words, std::size_t option) {
  std::string text = words.options[option];
  for (const auto& [outer, inner] : {std::pair{"“", "‘"}, {"”", "’"}})
    for (std::size_t at = text.find(outer); at != std::string::npos; at = text.find(outer))
      text.replace(at, std::string_view(outer).size(), inner);
  return fmt::format("{}, “{}”", option + 1, text);
}

std::string number_verdict(const PageAnswer& answer, const AnswerKey& key, double given) {
  const std::string said = fmt::format("You said {}", number_words(given));
  if (key.waits) return said + ". The right number takes too long to be computed here.";
  if (!key.number) return said + ". As the page is now, there is no right number to compare it with.";
  const std::string is = with_unit(key.shown, answer);
  if (given == *key.number) return fmt::format("{}: right.", said);
  if (is_right(answer, *key.number, given)) return fmt::format("{}: right, it is {}.", said, is);
  const double off = given - *key.number;
  return fmt::format("{}; it is {}: {} too {}.", said, is, number_words(std::abs(off)),
                     off > 0.0 ? "high" : "low");
}

std::string shape_verdict(const AnswerKey& key, std::vector<Index> given) {
  const std::string said = fmt::format("You said ({})", join(given, ","));
  if (key.sizes.empty()) return said + ". As the page is now, there is no such tensor.";
  if (given == key.sizes) return said + ": right.";
  std::vector<Index> right = key.sizes;
  std::ranges::sort(right);
  std::ranges::sort(given);
  return fmt::format("{}; it is {}.{}", said, key.shown,
                     given == right ? " The sizes are right, their order is not." : "");
}

// The given cell is named as the key is, by what decides.
std::string cell_verdict(const PageWords& words, const CellRef& given) {
  const AnswerKey& key = words.key;
  const Index row = given.index[given.index.size() - 2], column = given.index.back();
  const std::string said = "You pointed at " + cell_words(words.rows, words.columns, row, column);
  if (!key.row && !key.column) return said + ". As the page is now, there is no right cell.";
  const bool right = (!key.row || *key.row == row) && (!key.column || *key.column == column);
  return right ? fmt::format("{}: right.", said) : fmt::format("{}; right is {}.", said, key.shown);
}

// "0.70 of the weight lies at the wrong keys; largest at “because”: you drew 0.2, it is 0.901."
std::string weights_verdict(const PageAnswer& answer, const PageWords& words, const std::vector<double>& given) {
  if (!words.key.weights || words.key.weights->weights.size() != given.size())
    return "You drew a row of weights. As the page is now, there is none of this length to compare it with.";
  const std::vector<double>& right = words.key.weights->weights;
  const double misplaced = misplaced_weight(given, right);
  std::size_t most = 0;
  for (std::size_t i = 0; i < given.size(); ++i)
    if (std::abs(given[i] - right[i]) > std::abs(given[most] - right[most])) most = i;
  const bool is_right = misplaced <= answer.within;
  std::string told = fmt::format("You drew a row of weights{} {:.2f} of the weight lies at the wrong keys",
                                 is_right ? ": right," : ";", misplaced);
  if (misplaced < 0.005) return "You drew a row of weights: right, to two digits.";
  return told + fmt::format("; the largest difference is at “{}”: you drew {:.2f}, it is {:.2f}.",
                            words.weight_labels[most], given[most], right[most]);
}

std::string mask_verdict(const AnswerKey& key, const AnswerMask& given) {
  const auto painted = std::ranges::count(given.blocked, true);
  const std::string said = fmt::format("You blocked {} of {} pairs", painted, given.blocked.size());
  if (key.waits) return said + ". Which ones are blocked takes too long to be computed here.";
  if (!key.mask || key.mask->rows != given.rows || key.mask->columns != given.columns ||
      key.mask->row != given.row || key.mask->column != given.column)
    return said + ". As the page is now, there is no mask of this size to compare them with.";
  std::size_t missed = 0, too_many = 0;
  for (std::size_t i = 0; i < given.blocked.size(); ++i) {
    if (given.blocked[i] && !key.mask->blocked[i]) ++too_many;
    if (!given.blocked[i] && key.mask->blocked[i]) ++missed;
  }
  if (missed + too_many == 0) return said + ": right.";
  std::string how = fmt::format("{} blocked {} missed", missed, missed == 1 ? "pair is" : "pairs are");
  if (missed == 0)
    how = fmt::format("{} open {} blocked", too_many, too_many == 1 ? "pair is" : "pairs are");
  else if (too_many > 0)
    how += fmt::format(", {} open {} blocked", too_many, too_many == 1 ? "pair is" : "pairs are");
  return fmt::format("{}; {} wrong, outlined on the map: {}.", said,
                     missed + too_many == 1 ? "1 is" : fmt::format("{} are", missed + too_many), how);
}

}  // namespace

std::string choice_verdict(const PageWords& words, std::size_t given) {
  const auto named = [&](std::size_t i) { return named_option(words, i); };
  if (words.key.waits)
    return fmt::format("You chose {}. Its numbers take too long to be computed here.", named(given));
  if (!words.key.option)
    return fmt::format("You chose {}. As the page is now, no single option is right.", named(given));
  if (*words.key.option == given) return fmt::format("You chose {}: right.", named(given));
  const std::string& why = words.whys[given];
  return fmt::format("You chose {}; right is {}.{}{}", named(given), named(*words.key.option),
                     why.empty() ? "" : " ", why);
}

std::string right_answer(const PlaylistWalk& walk) {
  const PlaylistPage* page = walk.shown();
  if (!page || !page->answer) return "";
  const AnswerKey& key = walk.words.key;
  if (key.waits) return "What is right takes too long to be computed here.";
  switch (page->answer->kind) {
    case AnswerKind::number:
      return key.number
                 ? with_why(fmt::format("It is {}.", with_unit(key.shown, *page->answer)), walk.words.why)
                 : "";
    case AnswerKind::shape:
      return key.sizes.empty() ? "" : fmt::format("It is {}.", key.shown);
    case AnswerKind::head:
      return key.head ? fmt::format("The right head is {}.", *key.head) : "";
    case AnswerKind::cell:
      return key.row || key.column ? fmt::format("Right is {}.", key.shown) : "";
    case AnswerKind::choice:
    case AnswerKind::tensor:
      return key.option && *key.option < walk.words.options.size()
                 ? fmt::format("Right is {}.", named_option(walk.words, *key.option))
                 : "";
    case AnswerKind::weights: {
      if (!key.weights || key.weights->weights.size() != walk.words.weight_labels.size()) return "";
      const std::vector<double>& weights = key.weights->weights;
      const auto largest = std::ranges::max_element(weights);
      return fmt::format("The largest weight is {:.2f}, at “{}”.", *largest,
                         walk.words.weight_labels[static_cast<std::size_t>(largest - weights.begin())]);
    }
    case AnswerKind::mask:
      return key.mask ? fmt::format("{} of {} pairs are blocked.",
                                    std::ranges::count(key.mask->blocked, true), key.mask->blocked.size())
                      : "";
  }
  return "";
}

std::string answer_verdict(const PlaylistWalk& walk) {
  const PlaylistPage* page = walk.shown();
  if (!page || !page->answer) return "";
  const PlaylistWalk::Given& given = walk.given;
  const AnswerKey& key = walk.words.key;
  if (given.gives_bars) return weights_verdict(*page->answer, walk.words, given.bars);
  if (given.gives_mask) return mask_verdict(key, given.mask);
  if (given.head) {
    const std::string said = fmt::format("You chose head {}", *given.head);
    if (!key.head) return said + ". As the page is now, there is no right one.";
    return *key.head == *given.head ? said + ": right." : fmt::format("{}; right is head {}.", said, *key.head);
  }
  if (!given.sizes.empty()) return shape_verdict(key, given.sizes);
  if (given.cell) return cell_verdict(walk.words, *given.cell);
  if (given.number) return with_why(number_verdict(*page->answer, key, *given.number), walk.words.why);
  if (given.option && *given.option < walk.words.options.size())
    return choice_verdict(walk.words, *given.option);
  return walk.answered ? right_answer(walk) : "";
}

}  // namespace headwise
