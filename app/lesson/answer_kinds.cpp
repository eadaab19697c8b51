#include "app/lesson/answer_kinds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "app/lesson/page_answers.h"
#include "app/session/commands.h"
#include "core/attention/rules.h"
#include "core/lessons/given_answer.h"
#include "core/lessons/live_text.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using Given = PlaylistWalk::Given;
using Pieces = std::vector<Piece>;
using Right = std::optional<bool>;  // nullopt: there is no key to compare with

constexpr Index most_head_buttons = 64;
constexpr const char* submit_tip = "submit your answer, then show the result (Enter)";

Piece note(std::string text) {
  return {PieceKind::note, std::move(text)};
}

std::string with_unit(const std::string& number, const PageAnswer& answer) {
  return answer.unit.empty() ? number : number + " " + answer.unit;
}

// A verdict of the table, with what its braces name.
std::string filled(const char* verdict, const PageAnswer& answer, const PageWords& words) {
  const auto by_size = [](const std::string& a, const std::string& b) { return a.size() < b.size(); };
  const auto& labels = words.weight_labels;
  const auto widest = std::ranges::max_element(labels, by_size);
  const std::vector<double> weights = words.key.weights ? words.key.weights->weights : std::vector<double>{0.0};
  const auto largest = std::ranges::max_element(weights);
  const auto at = static_cast<std::size_t>(largest - weights.begin());
  const bool chosen = words.key.option && *words.key.option < words.options.size();
  return fmt::format(fmt::runtime(verdict), fmt::arg("shown", words.key.shown), fmt::arg("unit", answer.unit),
                     fmt::arg("of_unit", answer.unit.empty() ? "" : " " + answer.unit),
                     fmt::arg("why", words.why), fmt::arg("and_why", words.why.empty() ? "" : " " + words.why),
                     fmt::arg("option", chosen ? named_option(words.options, *words.key.option) : ""),
                     fmt::arg("largest", *largest), fmt::arg("at", at < labels.size() ? labels[at] : ""),
                     fmt::arg("widest", widest == labels.end() ? "" : *widest));
}

// Numbers and shapes: what is typed.

template <bool (*take)(const PanelContext&, Given&)>
Pieces typed_pieces(const PlaylistWalk& walk, const char* wanted, const char* unreadable) {
  const Given& given = walk.given;
  const std::string& unit = walk.shown()->answer->unit;
  const auto press = [](const PanelContext& context, Given& typed) {
    typed.unreadable = !take(context, typed);
    if (!typed.unreadable) typed.give();
  };
  Pieces pieces{{PieceKind::field, "", "caption/number", wanted, true, press}};
  if (!unit.empty()) pieces.push_back(note(unit));
  pieces.push_back({PieceKind::button, "answer", "caption/give", given.unreadable ? unreadable : submit_tip,
                    !given.typed.empty(), press});
  if (given.unreadable) pieces.push_back({PieceKind::error, unreadable});
  return pieces;
}

bool take_number(const PanelContext&, Given& given) {
  const std::optional<double> number = typed_number(given.typed);
  given.number = number.value_or(0.0);
  return number.has_value();
}

bool take_shape(const PanelContext& context, Given& given) {
  given.sizes = typed_sizes(given.typed, LiveSubject(context.trace, &context.scenario, &context.inputs));
  return !given.sizes.empty();
}

Pieces number_pieces(const PlaylistWalk& walk) {
  return typed_pieces<take_number>(walk, "a number", "type a number, such as 0.5, 1/8 or 50 %");
}

Pieces shape_pieces(const PlaylistWalk& walk) {
  return typed_pieces<take_shape>(walk, "a shape", "type sizes, such as 2, 3, 5 or N L E");
}

bool begin_typing(PlaylistWalk& walk, int) {
  return walk.given.wants_focus = true;  // the character itself arrives as typed text
}

// With the author's reason behind it, if there is one.
std::string with_reason(const std::string& verdict, const PageWords& words) {
  return words.why.empty() ? verdict : verdict + " " + words.why;
}

std::string number_verdict(const PageAnswer& answer, const PageWords& words, const Given& given, Right right) {
  const AnswerKey& key = words.key;
  const std::string given_answer = fmt::format("You said {}", number_words(given.number));
  if (key.waits)
    return with_reason(given_answer + ". The right number takes too long to be computed here.", words);
  if (!right)
    return with_reason(given_answer + ". As the page is now, there is no right number to compare it with.",
                       words);
  const std::string is = with_unit(key.shown, answer);
  const double off = given.number - *key.number;
  if (off == 0.0) return with_reason(given_answer + ": right.", words);
  if (*right) return with_reason(fmt::format("{}: right, it is {}.", given_answer, is), words);
  return with_reason(fmt::format("{}; it is {}: {} too {}.", given_answer, is, number_words(std::abs(off)),
                                 off > 0.0 ? "high" : "low"),
                     words);
}

std::string shape_verdict(const PageAnswer&, const PageWords& words, const Given& given, Right right) {
  std::vector<Index> of_key = words.key.sizes, sizes = given.sizes;
  const std::string given_answer = fmt::format("You said ({})", join(sizes, ","));
  if (!right) return given_answer + ". As the page is now, there is no such tensor.";
  if (*right) return given_answer + ": right.";
  std::ranges::sort(of_key);
  std::ranges::sort(sizes);
  return fmt::format("{}; it is {}.{}", given_answer, words.key.shown,
                     sizes == of_key ? " The sizes are right, their order is not." : "");
}

// Choices and tensors: one of the options.

void give_option(Given& given, std::size_t option) {
  given.option = option;
  given.give();
}

Pieces option_pieces(const PlaylistWalk& walk) {
  Pieces pieces;
  for (std::size_t i = 0; i < walk.words.options.size(); ++i)
    pieces.push_back({PieceKind::option, fmt::format("{}   {}", i + 1, walk.words.options[i]),
                      fmt::format("caption/option/{}", i + 1),
                      fmt::format("{} ({})", walk.words.options[i], i + 1), true,
                      [i](const PanelContext&, Given& given) { give_option(given, i); }});
  return pieces;
}

Pieces tensor_pieces(const PlaylistWalk& walk) {
  Pieces pieces = option_pieces(walk);
  if (walk.answers_on_stage) pieces.push_back(note("or click it on the stage"));
  return pieces;
}

bool choose_option(PlaylistWalk& walk, int digit) {
  if (digit < 1 || static_cast<std::size_t>(digit) > walk.words.options.size()) return false;
  give_option(walk.given, static_cast<std::size_t>(digit - 1));
  return true;
}

// A click on a map or on a name; one on a tensor that is not asked about is told.
std::string click_tensor(PlaylistWalk& walk, const Trace& trace, const Selection& now, const Selection& wanted) {
  const bool pins = wanted.pinned && wanted.pinned != now.pinned && !wanted.pinned->tensor.gradient;
  if (!pins && (wanted.tensor == now.tensor || !wanted.tensor)) return "";
  const TensorId clicked = pins ? wanted.pinned->tensor.id : *wanted.tensor;
  for (std::size_t i = 0; i < walk.words.options.size(); ++i) {
    const std::optional<TensorName> name = find_tensor_name(walk.words.options[i]);
    if (!name || first_name(trace, *name) != first_name(trace, {clicked})) continue;
    give_option(walk.given, i);
    return "";
  }
  return fmt::format("{} is not one of the options: {}.", tensor_entry(clicked).name,
                     join(walk.words.options, ", "));
}

std::string option_verdict(const PageAnswer&, const PageWords& words, const Given& given, Right) {
  return given.option < words.options.size() ? choice_verdict(words, given.option) : "";
}

// Heads.

void give_head(Given& given, Index head) {
  given.head = head;
  given.give();
}

Pieces head_pieces(const PlaylistWalk& walk) {
  Pieces pieces;
  const Index heads = walk.words.trace ? walk.words.trace->options.num_heads : 0;
  for (Index head = 0; head < std::min(heads, most_head_buttons); ++head)
    pieces.push_back({PieceKind::button, std::to_string(head), fmt::format("caption/head/{}", head),
                      fmt::format("head {}", head), true,
                      [head](const PanelContext&, Given& given) { give_head(given, head); }});
  if (walk.answers_on_stage) pieces.push_back(note("or click one on the stage"));
  return pieces;
}

bool choose_head(PlaylistWalk& walk, int digit) {
  if (!walk.words.trace || digit >= walk.words.trace->options.num_heads) return false;
  give_head(walk.given, digit);
  return true;
}

std::string click_head(PlaylistWalk& walk, const Trace&, const Selection& now, const Selection& wanted) {
  if (wanted.head != now.head) give_head(walk.given, wanted.head);
  return "";
}

std::string head_verdict(const PageAnswer&, const PageWords& words, const Given& given, Right right) {
  const std::string given_answer = fmt::format("You chose head {}", given.head);
  if (!right) return given_answer + ". As the page is now, there is no right one.";
  return *right ? given_answer + ": right." : fmt::format("{}; it is head {}.", given_answer, *words.key.head);
}

// Cells.

Pieces cell_pieces(const PlaylistWalk& walk) {
  const std::string_view name = tensor_entry(*walk.shown()->answer->tensor).name;
  return {note(walk.answers_on_stage
                   ? fmt::format("click a cell of {}; by keys: Enter, the arrows, Enter", name)
                   : fmt::format("go back to the page’s own place to click a cell of {}", name))};
}

std::string click_cell(PlaylistWalk& walk, const Trace&, const Selection& now, const Selection& wanted) {
  if (!wanted.pinned || wanted.pinned == now.pinned ||
      wanted.pinned->tensor != TensorName{*walk.shown()->answer->tensor})
    return "";
  const std::vector<Index>& index = wanted.pinned->index;
  walk.given.row = index[index.size() - 2];
  walk.given.column = index.back();
  walk.given.give();
  return "";
}

// The given cell is named as the key is, by what decides.
std::string cell_verdict(const PageAnswer& answer, const PageWords& words, const Given& given, Right right) {
  const std::string given_answer = "You pointed at " + given_words(answer, words, given);
  if (!right) return given_answer + ". As the page is now, there is no right cell.";
  return *right ? fmt::format("{}: right.", given_answer)
                : fmt::format("{}; it is {}.", given_answer, words.key.shown);
}

// Rows of weights, drawn as bars.

Pieces weights_pieces(const PlaylistWalk& walk) {
  const double sum = walk.given.sum_of_bars();
  const auto scale = [](const PanelContext&, Given& given) { given.scale_bars(); };
  const std::string submit =
      fmt::format("submit the row you drew, then show the result ({})", first_key_text(CommandId::next_page));
  return {{PieceKind::button, "answer", "caption/give",
           sum > 0.0 ? submit : "draw the row first: drag over the bars", sum > 0.0,
           [](const PanelContext&, Given& given) { given.done = true; }},
          {PieceKind::button, "scale to 1", "caption/scale",
           "divide the bars by their sum, because the weights of a row sum to 1; the answer is scaled in any "
           "case",
           sum > 0.0 && std::abs(sum - 1.0) > nearly_one, scale}};
}

bool set_bar(PlaylistWalk& walk, int digit) {
  Given& given = walk.given;
  if (given.bar < given.weights.size()) given.weights[given.bar] = digit / 10.0;
  return given.wants_focus = true;
}

// "0.70 of the weight lies at the wrong keys; largest at “because”: you drew 0.2, it is 0.901."
std::string weights_verdict(const PageAnswer&, const PageWords& words, const Given& given, Right is) {
  const std::vector<double>& drawn = given.weights;
  if (!is)
    return "You drew a row of weights. As the page is now, there is none of this length to compare it with.";
  const std::vector<double>& right = words.key.weights->weights;
  const double misplaced = misplaced_weight(drawn, right);
  if (misplaced < to_two_digits) return "You drew a row of weights: right, to two digits.";
  std::size_t most = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i)
    if (std::abs(drawn[i] - right[i]) > std::abs(drawn[most] - right[most])) most = i;
  return fmt::format(
      "You drew a row of weights{} {:.2f} of the weight lies at the wrong keys; the largest difference is at "
      "“{}”: you drew {:.2f}, it is {:.2f}.",
      *is ? ": right," : ";", misplaced, words.weight_labels[most], drawn[most], right[most]);
}

// Masks, painted on the map.

// What was painted counts only where it can be seen: an edit may leave no mask of the page's size.
bool is_painted_mask(const PlaylistWalk& walk) {
  const std::optional<MaskKey>& key = walk.words.key.mask;
  return walk.given.mask.touched && key && walk.given.mask.is_box_of(*key);
}

Pieces mask_pieces(const PlaylistWalk& walk) {
  if (!walk.words.key.mask && walk.words.edits)
    return {note("your changes to this page leave no mask to paint; “" + std::string(page_restore_text) +
                 "” undoes them")};
  const auto give = [](const PanelContext&, Given& given) {
    given.mask.touched = given.done = true;  // that no pair is blocked is an answer too
  };
  return {{PieceKind::button, "answer", "caption/give", "submit the pairs you painted, then show the result",
           !walk.given.mask.blocked.empty(), give},
          note(fmt::format(
              "paint the blocked pairs on the map, then answer ({}); by keys: Enter, the arrows, Enter",
              first_key_text(CommandId::next_page)))};
}

std::string mask_verdict(const PageAnswer&, const PageWords& words, const Given& given, Right right) {
  const std::optional<MaskKey>& key = words.key.mask;
  const AnswerMask& mask = given.mask;
  if (!words.key.waits && !right)
    return "You painted a mask. As the page is now, there is no mask of that size to compare yours with.";
  const std::string given_answer =
      fmt::format("You blocked {} of {} pairs", std::ranges::count(mask.blocked, true), mask.blocked.size());
  if (!right) return given_answer + ". Which ones are blocked takes too long to be computed here.";
  std::size_t missed = 0, too_many = 0;
  for (std::size_t i = 0; i < mask.blocked.size(); ++i) {
    if (mask.blocked[i] && !key->blocked[i]) ++too_many;
    if (!mask.blocked[i] && key->blocked[i]) ++missed;
  }
  if (*right) return given_answer + ": right.";
  const auto pairs = [](std::size_t count, const char* which, const char* how) {
    return fmt::format("{} {} {} {}", count, which, count == 1 ? "pair is" : "pairs are", how);
  };
  std::string how = missed > 0 ? pairs(missed, "blocked", "missed") : "";
  if (too_many > 0) how += (missed > 0 ? ", " : "") + pairs(too_many, "open", "blocked");
  return fmt::format("{}; {} wrong, outlined on the map: {}.", given_answer,
                     missed + too_many == 1 ? "1 is" : fmt::format("{} are", missed + too_many), how);
}

EditedText edited_key(const char* first, float share = 0.62f) {
  return {&PageAnswer::is,
          "is",
          "max scores[0,0,8,:]",
          "is: the right answer, an expression over the computed numbers",
          share,
          first};
}

}  // namespace

const AnswerKindView& view_of(const PageAnswer& answer) {
  using A = PageAnswer;
  // In the order of AnswerKind.
  // clang-format off
  static const std::array<AnswerKindView, 8> views{{
      {.controls = number_pieces, .verdict = number_verdict, .digit = begin_typing, .typed = true,
       .right = "It is {shown}{of_unit}.{and_why}",
       .longest = "You said 0.000; it is {shown} {unit}: 0.000 too high. {why}",
       .texts = {edited_key("{cell}", 0.42f),
                 {&A::unit, "unit", "unit", "unit: a word after the number (optional)", 0.12f},
                 {&A::why, "why", "why (a fixed number needs it)", "why: said with the verdict. A fixed number, as 3, "
                  "is accepted as the key only with its reason", 0.36f}}},
      {.controls = option_pieces, .verdict = option_verdict, .digit = choose_option, .right = "It is {option}."},
      {.controls = shape_pieces, .verdict = shape_verdict, .digit = begin_typing, .typed = true, .letters = "NLSEHGD",
       .characters = "([",
       .right = "It is {shown}.",
       .longest = "You said {shown}; it is {shown}. The sizes are right, their order is not.",
       .texts = {edited_key("shape {name}")}},
      {.controls = head_pieces, .verdict = head_verdict, .digit = choose_head, .click = click_head,
       .right = "The right head is {shown}.", .longest = "You chose head 00; it is head 00.",
       .texts = {edited_key("argmax attn_weights[{batch},:,{query},{key}]")}},
      {.controls = cell_pieces, .verdict = cell_verdict, .click = click_cell, .right = "It is {shown}.",
       .longest = "You pointed at row 00, column 00; it is {shown}.",
       .texts = {{&A::row, "row", "any row", "row: the right row, a number or an expression; empty: any", 0.3f,
                  "{query}"},
                 {&A::column, "column", "any column", "column: the right column, a number or an expression; empty: any",
                  0.4f, "argmax {name}[{row},:]"}}},
      {.controls = tensor_pieces, .verdict = option_verdict, .digit = choose_option, .click = click_tensor,
       .right = "It is {option}."},
      {.controls = weights_pieces, .verdict = weights_verdict, .digit = set_bar,
       .drawn = [](const PlaylistWalk& walk) { return walk.given.sum_of_bars() > 0.0; },
       .right = "The largest weight is {largest:.2f}, at “{at}”.",
       .longest = "You drew a row of weights: right, 0.00 of the weight lies at the wrong keys; the largest difference "
                  "is at “{widest}”: you drew 0.00, it is 0.00.",
       .texts = {edited_key("attn_weights[{batch},{head},{attending},:]")}},
      {.controls = mask_pieces, .verdict = mask_verdict, .drawn = is_painted_mask,
       .right = "{shown} pairs are blocked.",
       .longest = "You blocked 000 of 000 pairs; 000 are wrong, outlined on the map: 000 blocked pairs are missed, "
                  "000 open pairs are blocked.",
       .texts = {edited_key("{blocked}")}},
  }};
  // clang-format on
  return views[static_cast<std::size_t>(answer.kind)];
}

std::vector<Piece> listed_pieces(const PlaylistWalk& walk) {
  const AnswerKindView& view = view_of(*walk.shown()->answer);
  Pieces pieces = view.controls(walk);
  // Page Down does the same, but what was drawn is given by that key.
  const std::string key = first_key_text(CommandId::next_page);
  pieces.push_back({PieceKind::show, answer_hint, "caption/answer",
                    view.drawn(walk) ? "without answering" : fmt::format("without answering ({})", key), true,
                    [](const PanelContext&, Given& given) {
                      given.weights.clear();
                      given.mask.touched = false;
                      given.done = true;
                    }});
  return pieces;
}

std::string choice_verdict(const PageWords& words, std::size_t given) {
  const auto named = [&](std::size_t i) { return named_option(words.options, i); };
  const Right right = is_right(blank_answer(AnswerKind::choice), words.key, {.option = given});
  if (words.key.waits)
    return fmt::format("You chose {}. Its numbers take too long to be computed here.", named(given));
  if (!right)
    return fmt::format("You chose {}. As the page is now, no single option is right.", named(given));
  if (*right) return fmt::format("You chose {}: right.", named(given));
  // Why it is wrong comes before the right one, about which it would be read otherwise.
  const std::string& why = words.reasons[given];
  if (why.empty()) return fmt::format("You chose {}; it is {}.", named(given), named(*words.key.option));
  return fmt::format("You chose {}: wrong. {} Answer: {}.", named(given), why, named(*words.key.option));
}

std::string right_answer(const PlaylistWalk& walk) {
  const PlaylistPage* page = walk.shown();
  const AnswerKey& key = walk.words.key;
  if (!page || !page->answer) return "";
  if (key.waits) return "What is right takes too long to be computed here.";
  return key.shown.empty() && !key.option ? ""
                                          : filled(view_of(*page->answer).right, *page->answer, walk.words);
}

std::vector<std::string> longest_verdicts(const PlaylistWalk& walk) {
  const PageAnswer& answer = *walk.shown()->answer;
  std::vector<std::string> verdicts{right_answer(walk), filled(view_of(answer).longest, answer, walk.words)};
  for (std::size_t i = 0; i < walk.words.options.size(); ++i)
    verdicts.push_back(choice_verdict(walk.words, i));
  return verdicts;
}

std::string answer_verdict(const PlaylistWalk& walk) {
  const PlaylistPage* page = walk.shown();
  if (!page || !page->answer) return "";
  if (walk.given.made) {
    const PageAnswer& answer = *page->answer;
    const Right right = is_right(answer, walk.words.key, walk.given.answer());
    if (std::string verdict = view_of(answer).verdict(answer, walk.words, walk.given, right); !verdict.empty())
      return verdict;
  }
  return walk.answered ? right_answer(walk) : "";
}

}  // namespace headwise
