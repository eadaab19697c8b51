// What the inspector says, without a window: code, terms, statistics, formulas, numbers.
#include <algorithm>
#include <cmath>

#include "app/content/cell_terms.h"
#include "app/content/map_figures.h"
#include "app/content/step_words.h"
#include "app/widgets/text_column.h"
#include "core/attention/reference_backend.h"
#include "core/attention/steps.h"
#include "core/export/code_lines.h"
#include "core/export/number_text.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"
#include "tests/app/stage/stage_trace.h"
#include "tests/checks.h"

using namespace headwise;

TEST_CASE("every picture of every step has code and words") {
  for (const TracedScenario& given : {traced({"attention.residual=true", "attention.layer_norm=true"}),
                                      traced({"op=scaled_dot_product_attention"})}) {
    for (int step = 0; step < step_count; ++step) {
      for (const StepPicture& picture : step_pictures(static_cast<Step>(step), *given.trace)) {
        CAPTURE(std::string(tensor_entry(picture.result).name));
        for (const CodeStyle style : code_styles)
          CHECK_FALSE(code_lines(style, static_cast<Step>(step), picture.result, *given.trace).empty());
        const StepWords words = step_words(static_cast<Step>(step), picture);
        CHECK(!words.formulas.empty());
        CHECK(words.sentence.size() > 20);
      }
    }
  }
  CHECK(step_words(Step::project, {TensorId::v, {}, {}, false, 0, 0}).formulas ==
        std::vector<std::string>{"v = value W_vᵀ + b_v"});
  CHECK(step_words(Step::inputs, {TensorId::query, {}, {}, false, 0, 0}).formulas.size() == 3);
}

TEST_CASE("terms come largest first, the rest as one number, and all of them make the cell") {
  const TracedScenario given = traced({"inputs.source=text", "inputs.text=the cat saw the dog"});
  const CellProvenance cell = cell_provenance(*given.trace, {TensorId::scores}, {0, 1, 2, 3});
  const CellTerms terms = cell_terms(*given.trace, given.inputs.labels, cell, 3);
  REQUIRE(terms.largest.size() == 3);
  CHECK(std::abs(terms.largest[0].value) >= std::abs(terms.largest[1].value));
  CHECK(std::abs(terms.largest[1].value) >= std::abs(terms.largest[2].value));
  CHECK(terms.more == 1);
  double sum = terms.more_value;
  for (const NamedTerm& term : terms.largest) {
    sum += term.value;
    CHECK(term.name.starts_with("d "));
    REQUIRE(term.values.size() == 2);
    CHECK(term.values[0] * term.values[1] == doctest::Approx(term.value));
  }
  CHECK(sum == doctest::Approx(terms.sum));
  CHECK(terms.sum == doctest::Approx(cell.value).epsilon(1e-5));
  CHECK(cell_tokens(*given.trace, given.inputs.labels, cell.cell) == "saw → the₃");
  CHECK(box_text(*given.trace, cell.sources[0]) == "q_heads[0,1,2,:]");
  // Over keys the terms are called by their tokens.
  const CellProvenance mixed = cell_provenance(*given.trace, {TensorId::head_output}, {0, 1, 2, 3});
  const CellTerms by_token = cell_terms(*given.trace, given.inputs.labels, mixed, 9);
  CHECK(by_token.more == 0);
  CHECK(std::ranges::any_of(by_token.largest, [](const NamedTerm& term) { return term.name == "dog"; }));
}

TEST_CASE("a row in numbers: finite values count, the others are counted") {
  const Tensor tensor(Shape{{"L", 2}, {"S", 4}}, std::vector<double>{1, 3, -INFINITY, NAN, 0.5, 0.5, 0, 0});
  const MatrixView map = matrix_view(std::make_shared<const Tensor>(tensor));
  const CellStatistics row = cell_statistics(row_of(map, 0), std::nullopt);
  CHECK(row.least == 1.0);
  CHECK(row.largest == 3.0);
  CHECK(row.mean == 2.0);
  CHECK(row.deviation == 1.0);
  CHECK(row.sum == 4.0);
  CHECK(row.finite == 2);
  CHECK(row.nans == 1);
  CHECK(row.minus_infs == 1);
  CHECK(cell_statistics(row_of(map, 1), std::nullopt).largest == 0.5);
}

TEST_CASE("formulas give q, k and v their hue, and single letters their index") {
  const auto runs = formula_runs("scoresₕ = Qₕ Kₕᵀ");
  REQUIRE(runs.size() == 7);
  CHECK(runs[0] == FormulaRun{"scoresₕ", FormulaHue::plain, false, false});
  CHECK(runs[4] == FormulaRun{"Qₕ", FormulaHue::q, false, false});
  CHECK(runs[6] == FormulaRun{"Kₕᵀ", FormulaHue::k, false, false});
  const auto product = formula_runs("q = query W_qᵀ");
  CHECK(product[0] == FormulaRun{"q", FormulaHue::q, false, false});
  CHECK(product[4] == FormulaRun{"query", FormulaHue::plain, false, false});
  CHECK(product[6] == FormulaRun{"W", FormulaHue::q, false, false});
  CHECK(product[7] == FormulaRun{"q", FormulaHue::q, true, false});
  CHECK(product[8] == FormulaRun{"ᵀ", FormulaHue::q, false, false});
  CHECK(formula_runs("q_a = query W_DQᵀ")[0].text == "q_a");
  std::string joined;
  for (const FormulaRun& run : formula_runs("Aₕ = exp(maskedₕ − max) / Σ head_output₀")) joined += run.text;
  CHECK(joined == "Aₕ = exp(maskedₕ − max) / Σ head_output₀");
}

TEST_CASE("numbers have a real minus sign and never a minus nought") {
  CHECK(decimal_text(-1.5) == "−1.500");
  CHECK(decimal_text(-0.0) == "0.000");
  CHECK(decimal_text(NAN) == "NaN");
  CHECK(decimal_text(-INFINITY) == "−∞");
  CHECK(decimal_text(1e-5) == "1e−05");
  CHECK(decimal_text(-1e9) == "−1e+09");
  CHECK(cell_number(0.25, 2, true) == ".25");
  CHECK(cell_number(1.0, 2, true) == "1.0");
  CHECK(cell_number(-0.04, 1, false) == "0.0");
  CHECK(cell_number(-14.13, 1, false) == "−14.1");
  CHECK(cell_decimals({-216, 216}) == two_digits);
  CHECK(cell_decimals({-14, 14}) == 1);
  CHECK(cell_decimals({0, 1}) == 2);
}

TEST_CASE("a cell's number never loses its first two digits to its neighbours") {
  for (const double range : {12.0, 99.0, 216.0}) {
    CAPTURE(range);
    const int fewer = fewer_cell_decimals({-range, range});
    CHECK(cell_number(7.0, fewer, false) == "7.0");
    CHECK(cell_number(7.0 * 0.25, fewer, false) == "1.8");
    CHECK(cell_number(-9.94, fewer, false) == "−9.9");
    CHECK(cell_number(9.96, fewer, false) == "10");
    CHECK(cell_number(-14.13, fewer, false) == "−14");
  }
  CHECK(cell_number(-216.4, two_digits, false) == "−216");
  CHECK(fewer_cell_decimals({-9, 9}) == 1);
  CHECK(fewer_cell_decimals({-1, 1}) == 1);
  CHECK(fewer_cell_decimals({0, 0.02}) == 3);
}

TEST_CASE("small numbers in cells do not become nought") {
  CHECK(cell_decimals({-0.02, 0.02}) == 3);
  CHECK(cell_number(0.012, 3, true) == ".012");
  CHECK(cell_decimals({-0.0009, 0.0009}) == exponents);
  CHECK(cell_number(0.00094, exponents, true) == "9e−4");
  CHECK(cell_number(-0.00094, exponents, false) == "−9e−4");
  CHECK(cell_number(3e-12, exponents, false) == "3e−12");
  CHECK(cell_number(0.0, exponents, true) == "0");
  CHECK(cell_number(1.0, exponents, true) == "1e0");
}

TEST_CASE("a word that stands at several places is told with its place") {
  const std::vector<std::string> words{"the", "cat", "saw", "the", "dog"};
  CHECK(token_at(words, 0, "") == "the₀");
  CHECK(token_at(words, 3, "") == "the₃");
  CHECK(token_at(words, 1, "") == "cat");
  CHECK(token_at({}, 12, "k ") == "k 12");
}

TEST_CASE("code that is too long breaks behind a space, whatever it consists of") {
  CHECK(wrapped_code("q = F.linear(query, in_proj_weight[0:128], in_proj_bias[0:128])", 40) ==
        std::vector<std::string>{"q = F.linear(query,", "  in_proj_weight[0:128],", "  in_proj_bias[0:128])"});
  CHECK(wrapped_code("short", 40) == std::vector<std::string>{"short"});
  CHECK(wrapped_code("", 40) == std::vector<std::string>{""});
  for (const std::string& line : wrapped_code(std::string(300, 'x'), 10)) CHECK(line.size() <= 10);
  std::string arrows;
  for (int i = 0; i < 50; ++i) arrows += "→";
  std::string joined;
  for (const std::string& line : wrapped_code(arrows, 12)) joined += line.substr(line.find_first_not_of(' '));
  CHECK(joined == arrows);
}

TEST_CASE("a step of latent attention asks for the latent, and says that only a part of q is rotated") {
  AttentionOptions options;
  options.op = Op::multi_head_latent_attention;
  CHECK(step_question(Step::project, options).starts_with("what is kept of a key row?"));
  options.rotary_base = 10000.0;
  CHECK(step_question(Step::split_heads, options).ends_with("the last R columns of each q are rotated"));
  CHECK(step_question(Step::past, options).ends_with("the latents of earlier tokens, from a cache"));
}

TEST_CASE("the formula and the question of the scale say what is done where it is not 1/√D") {
  const StepPicture picture{TensorId::scaled_scores, {}, {}, false, 0, 0};
  StepFacts facts;
  AttentionOptions& options = facts.options;
  CHECK(step_words(Step::scale, picture, facts).formulas ==
        std::vector<std::string>{"scaledₕ = scoresₕ / √D"});
  CHECK(step_question(Step::scale, options).starts_with("why divide by √D?"));
  options.scale = 1.0;
  CHECK(step_words(Step::scale, picture, facts).formulas ==
        std::vector<std::string>{"scaledₕ = 1 · scoresₕ"});
  CHECK(step_question(Step::scale, options).starts_with("nothing is divided by √D here"));
  options.scale = 0.5;
  options.temperature = 2.0;
  options.softcap = 30.0;
  CHECK(step_words(Step::scale, picture, facts).formulas ==
        std::vector<std::string>{"scaledₕ = 30 · tanh(0.5 · scoresₕ / 2 / 30)"});
  CHECK_LACKS(step_words(Step::mask, picture, facts).formulas.front(), "tanh");
}

TEST_CASE("the words of a step are true of the layer that is shown") {
  const auto words = [](Step step, TensorId result, std::initializer_list<std::string> settings,
                        Index head = 0) {
    const TracedScenario given = traced(settings);
    for (const StepPicture& picture : step_pictures(step, *given.trace))
      if (picture.result == result) return step_words(step, picture, step_facts(*given.trace, step, 0, head));
    FAIL("no such picture");
    return StepWords{};
  };
  const auto says = [](const StepWords& told, std::string_view part) {
    return told.sentence.find(part) != std::string::npos;
  };
  for (const TensorId made : {TensorId::q, TensorId::k, TensorId::v}) {
    CHECK(says(words(Step::project, made, {}), "plus a bias"));
    CHECK_CONTAINS(words(Step::project, made, {}).formulas.front(), " + b_");
    const StepWords without = words(Step::project, made, {"attention.bias=false"});
    CHECK_FALSE(says(without, "bias"));
    CHECK(without.formulas.front().ends_with("ᵀ"));
  }
  CHECK(words(Step::output, TensorId::output, {}).formulas.front() == "output = concat W_Oᵀ + b_O");
  CHECK(words(Step::output, TensorId::output, {"attention.bias=false"}).formulas.front() ==
        "output = concat W_Oᵀ");

  const auto mask = [&](std::initializer_list<std::string> settings, Index head = 0) {
    return words(Step::mask, TensorId::masked_scores, settings, head);
  };
  CHECK(says(mask({}), "No mask is set"));
  CHECK(says(mask({"mask.is_causal=true"}), "an allowed pair gets 0 added"));
  CHECK(says(mask({"mask.is_causal=true"}), "exactly 0"));
  const StepWords filled = mask({"mask.is_causal=true", "mask.value=-100"});
  CHECK(says(filled, "score becomes −100, not −∞"));
  CHECK_FALSE(says(filled, "exactly 0"));
  CHECK(filled.formulas ==
        std::vector<std::string>{"maskedₕ = −100 where blocked", "else scaledₕ + mask_bias"});
  CHECK(says(mask({"mask.alibi=true"}, 1), "No pair of this map is blocked"));
  CHECK(says(mask({"mask.alibi=true", "mask.is_causal=true"}, 1), "an allowed pair gets its number"));

  const auto softmax = [&](std::initializer_list<std::string> settings) {
    return words(Step::softmax, TensorId::attn_weights, settings);
  };
  CHECK_FALSE(says(softmax({"mask.is_causal=true"}), "of this map"));
  CHECK(says(softmax({"mask.preset=padding:4"}), "4 rows of this map have no finite score"));
  CHECK(says(softmax({"mask.preset=padding:4", "mask.fully_masked_rows=zero"}),
             "4 rows of this map are fully masked"));
  CHECK_FALSE(says(softmax({"mask.preset=padding:4", "mask.value=-100"}), "of this map"));
  const StepWords sink = softmax({"attention.sink=1", "mask.preset=padding:4"});
  CHECK(says(sink, "weights that sum to less than 1"));
  CHECK(says(sink, "4 rows of this map are fully masked: they are set to 0"));
  CHECK_CONTAINS(sink.formulas.at(0), "exp(sinkₕ − max) + Σ");

  const auto past = [&](std::initializer_list<std::string> settings) {
    return words(Step::past, TensorId::present_key, settings).formulas;
  };
  const std::string values = "present_valueₕ = [past_valueₕ; Vₕ]";
  CHECK(past({"inputs.past_length=2"}) == std::vector<std::string>{"present_keyₕ = [past_keyₕ; Kₕ]", values});
  CHECK(past({"inputs.past_length=2", "attention.rotary_base=10000"}) ==
        std::vector<std::string>{"present_keyₕ = [past_keyₕ; k_rotaryₕ]", values});
  const StepWords gated = words(Step::output, TensorId::output, {"attention.output_gate=true"});
  CHECK(gated.formulas.front() == "output = gated_concat W_Oᵀ + b_O");
  CHECK(says(gated, "all columns of gated_concat,"));
  for (const TensorId made : {TensorId::gated_concat, TensorId::output_gate}) {
    const std::string drawn = words(Step::gate, made, {"attention.output_gate=true"}).formulas.back();
    CHECK(drawn == "output_gate = query W_gᵀ");  // a bias has to be given
    CHECK(step_words(Step::gate, {made, {}, {}, false, 0, 0}).formulas.back() == drawn + " + b_g");
  }
}

TEST_CASE("the scores of latents say which columns are multiplied, and which of them were rotated") {
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed}) {
    Scenario scenario = preset_scenario("latent");
    scenario.attention.layout = layout;
    const TracePtr trace = reference_forward(make_scenario_inputs(scenario, DType::f32).attention);
    const StepWords words = step_words(Step::scores, step_pictures(Step::scores, *trace).front(),
                                       step_facts(*trace, Step::scores, 0, 0));
    const bool absorbed = layout == LatentLayout::absorbed;
    CHECK(words.formulas.front() ==
          (absorbed ? "scoresₕ = q_absorbedₕ k_absorbedᵀ" : "scoresₕ = q_rotaryₕ Kₕᵀ"));
    CHECK_CONTAINS(words.sentence, absorbed ? "over the C + R columns of both." : "this head's D columns only");
    CHECK(words.sentence.find("Both rows") == std::string::npos);
    CHECK(absorbed == (words.sentence.find("The last R columns of both rows") == std::string::npos));
    const CellProvenance cell = cell_provenance(*trace, {TensorId::scores}, {0, 0, 1, 0});
    for (const NamedTerm& term : cell_terms(*trace, TokenLabels{}, cell, 3).largest)
      CHECK(term.name.starts_with(absorbed ? "col " : "d "));
  }
}

TEST_CASE("no formula of latents rotates anything where there is no RoPE, and the input is nobody's angle") {
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed}) {
    Scenario scenario = preset_scenario("latent");
    scenario.attention.layout = layout;
    scenario.attention.rotary_base.reset();
    const TracePtr trace = reference_forward(make_scenario_inputs(scenario, DType::f32).attention);
    for (const Step step : {Step::inputs, Step::project, Step::split_heads, Step::scores})
      for (const StepPicture& picture : step_pictures(step, *trace)) {
        const StepFacts facts = step_facts(*trace, step, 0, 0);
        std::vector<std::string> formulas = step_words(step, picture, facts).formulas;
        if (const auto back = backward_words(step, picture, facts))
          formulas.insert(formulas.end(), back->formulas.begin(), back->formulas.end());
        for (const std::string& formula : formulas) {
          CAPTURE(formula);
          CHECK(formula.find("θ") == std::string::npos);
        }
      }
  }
}

TEST_CASE("every step says how its gradient comes back, and not as it went forward") {
  const auto of = [](Step step, TensorId result) {
    return backward_words(step, {result, {}, {}, false, 0, 0}, {});
  };
  const std::pair<Step, TensorId> steps[] = {
      {Step::inputs, TensorId::query},         {Step::project, TensorId::q},
      {Step::split_heads, TensorId::q_heads},  {Step::scores, TensorId::scores},
      {Step::scale, TensorId::scaled_scores},  {Step::mask, TensorId::masked_scores},
      {Step::softmax, TensorId::attn_weights}, {Step::weighted_sum, TensorId::head_output},
      {Step::concat, TensorId::concat},        {Step::output, TensorId::output}};
  for (const auto& [step, result] : steps) {
    const auto words = of(step, result);
    REQUIRE(words);
    CHECK_FALSE(words->formulas == step_words(step, {result, {}, {}, false, 0, 0}).formulas);
    for (const std::string& formula : words->formulas)
      CHECK((formula.starts_with("grad ") || formula == "along each row"));
  }
  CHECK_FALSE(of(Step::output, TensorId::layer_norm_output));
}

TEST_CASE("every picture of latent attention has words of its own, forwards and backwards") {
  for (const auto& [layout, past] : {std::pair(LatentLayout::expanded, 0),
                                     {LatentLayout::absorbed, 0},
                                     {LatentLayout::expanded, 3},
                                     {LatentLayout::absorbed, 3}}) {
    Scenario scenario = preset_scenario("latent");
    scenario.inputs.past_length = past;
    scenario.attention.layout = layout;
    scenario.attention.q_lora_rank = 6;
    const TracePtr trace = reference_forward(make_scenario_inputs(scenario, DType::f32).attention);
    for (const Step step : {Step::project, Step::past, Step::split_heads, Step::weighted_sum}) {
      const std::vector<StepPicture> pictures = step_pictures(step, *trace);
      CHECK(pictures.size() >= (step == Step::weighted_sum ? 1 : step == Step::past ? past > 0 ? 2 : 0 : 4));
      const StepFacts facts = step_facts(*trace, step, 0, 0);
      for (const StepPicture& picture : pictures) {
        CAPTURE(std::string(tensor_entry(picture.result).name));
        const StepWords words = step_words(step, picture, facts);
        REQUIRE_FALSE(words.formulas.empty());
        CHECK(words.formulas.front().find("W_k") == std::string::npos);
        CHECK(words.formulas.front().find(" + b_") == std::string::npos);  // the preset has no biases
        CHECK(words.sentence != step_entries()[static_cast<std::size_t>(step)].sentence);
        const std::optional<StepWords> back = backward_words(step, picture, facts);
        REQUIRE(back);
        for (const StepWords& each : {words, *back})
          for (const std::string& formula : each.formulas) CHECK(formula.find('{') == std::string::npos);
        const bool reads = picture.result == TensorId::kv_b || picture.result == TensorId::k_absorbed ||
                           picture.result == TensorId::latent_output;
        if (reads)
          CHECK((words.formulas.front().find("present_compressed_kv") != std::string::npos) == (past > 0));
      }
    }
  }
}

TEST_CASE("a relative bias has a question, a formula and lines of its own") {
  const TracedScenario given = traced({R"(attention.relative_bias={"bidirectional":false})"});
  const StepWords words = step_words(Step::mask, {TensorId::position_bias, {}, {}, false, 0, 0});
  CHECK(words.formulas.front().starts_with("position_bias"));
  CHECK_CONTAINS(step_question(Step::mask, given.trace->options), "distance");
  const std::vector<CodeLine> lines =
      code_lines(CodeStyle::pytorch, Step::mask, TensorId::position_bias, *given.trace);
  CHECK(lines.back().code.starts_with("position_bias = relative_attention_bias_weight"));
  for (const CodeLine& line : lines) CHECK(line.code.find("mask_bias") == std::string::npos);
}

TEST_CASE("every row of words names a tensor, or a step and a tensor, and has a formula and a sentence") {
  CHECK(step_rows().size() > 20);
  for (const WordRow& row : step_rows()) {
    CAPTURE(row.key);
    const std::size_t grad = row.key.find(": grad ");
    std::string_view tensor = grad == row.key.npos ? row.key : row.key.substr(grad + 7);
    for (const std::string_view kind :
         {" of neighbours", " of compressed latents", " of absorbed latents", " of latents"})
      if (tensor.ends_with(kind)) tensor.remove_suffix(kind.size());
    CHECK(find_tensor_name(tensor));
    if (grad != row.key.npos)
      CHECK(std::ranges::count(step_entries(), row.key.substr(0, grad), &StepEntry::name) == 1);
    const auto parts = parts_in(row.value);
    REQUIRE(parts.size() == 2);
    CHECK_FALSE(parts[0].empty());
    CHECK(parts[1].ends_with('.'));
  }
}
