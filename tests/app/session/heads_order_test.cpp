#include "app/session/head_finding.h"

#include <doctest/doctest.h>

using namespace headwise;

namespace {

// Four heads of two layers, with these induction scores; negative: none.
HeadSurvey survey_with(const std::vector<double>& induction) {
  HeadSurvey survey;
  survey.num_layers = 2;
  survey.num_heads = 2;
  for (std::size_t i = 0; i < induction.size(); ++i) {
    SurveyedHead head{static_cast<Index>(i / 2), static_cast<Index>(i % 2), {}};
    MeasuredScore& score = head.scores.scores[static_cast<std::size_t>(HeadScore::induction)];
    if (induction[i] >= 0.0) score = {induction[i], 0.1, 3};
    survey.heads.push_back(head);
  }
  return survey;
}

using Heads = std::vector<std::size_t>;

}  // namespace

TEST_CASE("a click sorts by a column with the largest first, a second one the other way") {
  const HeadColumn column = column_of(HeadScore::induction);
  HeadOrder order = clicked({}, column);
  CHECK(order == HeadOrder{column, true});
  const HeadSurvey survey = survey_with({0.2, 0.9, 0.5, 0.7});
  CHECK(ordered_heads(survey, nullptr, order) == Heads{1, 3, 2, 0});
  order = clicked(order, column);
  CHECK(ordered_heads(survey, nullptr, order) == Heads{0, 2, 3, 1});
  order = clicked(order, HeadColumn::head);
  CHECK(order == HeadOrder{HeadColumn::head, false});
  CHECK(ordered_heads(survey, nullptr, order) == Heads{0, 1, 2, 3});
  CHECK(ordered_heads(survey, nullptr, clicked(order, HeadColumn::head)) == Heads{3, 2, 1, 0});
}

TEST_CASE("heads of which nothing is known come last in both directions, and equal ones keep their order") {
  const HeadSurvey survey = survey_with({0.5, -1.0, 0.5, 0.1});
  const HeadColumn column = column_of(HeadScore::induction);
  CHECK(ordered_heads(survey, nullptr, {column, true}) == Heads{0, 2, 3, 1});
  CHECK(ordered_heads(survey, nullptr, {column, false}) == Heads{3, 0, 2, 1});
  CHECK(ordered_heads(survey, nullptr, {HeadColumn::effect, true}) == Heads{0, 1, 2, 3});
}

TEST_CASE("what muting does sorts too, and positions that do not count are nothing known") {
  const HeadSurvey survey = survey_with({0.5, 0.5, 0.5, 0.5});
  HeadMuting muting;
  for (const double bits : {0.3, 0.1, 0.0, 0.2}) {
    MutedHead head;
    head.positions = bits > 0.0 ? 5 : 0;
    head.bits = bits;
    head.largest_bits = 1.0 - bits;
    head.words_changed = static_cast<Index>(10.0 * bits);
    muting.heads.push_back(head);
  }
  CHECK(ordered_heads(survey, &muting, {HeadColumn::effect, true}) == Heads{0, 3, 1, 2});
  CHECK(ordered_heads(survey, &muting, {HeadColumn::largest_change, true}) == Heads{1, 3, 0, 2});
  CHECK(ordered_heads(survey, &muting, {HeadColumn::words_changed, false}) == Heads{1, 3, 0, 2});
  const LargestHeads largest = largest_heads(survey, &muting);
  CHECK(largest[static_cast<std::size_t>(HeadColumn::effect)] == 0);
  CHECK(largest[static_cast<std::size_t>(HeadColumn::largest_change)] == 1);
}

TEST_CASE("the largest of a column is the first of equals, and none where nothing is known or all are 0") {
  const auto column = static_cast<std::size_t>(column_of(HeadScore::induction));
  CHECK(largest_heads(survey_with({0.1, 0.7, 0.7, 0.2}), nullptr)[column] == 1);
  CHECK_FALSE(largest_heads(survey_with({-1, -1, -1, -1}), nullptr)[column].has_value());
  CHECK_FALSE(largest_heads(survey_with({0, 0, 0, 0}), nullptr)[column].has_value());
  CHECK_FALSE(largest_heads(survey_with({1, 1, 1, 1}), nullptr)[static_cast<std::size_t>(HeadColumn::effect)]
                  .has_value());
}
