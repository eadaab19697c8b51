#include "core/lessons/live_text.h"

#include <cmath>
#include <numeric>

#include "core/attention/reference_backend.h"
#include "core/lessons/head_width_comparison.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

TracePtr welcome() {
  static const TracePtr trace =
      reference_forward(make_scenario_inputs(preset_scenario("hand_made"), DType::f32).attention);
  return trace;
}

}  // namespace

TEST_CASE("a cell in a sentence is the number of the trace") {
  const Trace& trace = *welcome();
  CHECK(live_text("it scores {scores[0,0,8,1]}.", trace) ==
        "it scores " + live_number(trace.tensors.scores->at({0, 0, 8, 1})) + ".");
  CHECK(live_text("no number", trace) == "no number");
  CHECK(live_text("", trace).empty());
}

TEST_CASE("a box is summed, averaged and searched, and its deviation is that of the population") {
  Trace trace = *welcome();
  trace.tensors.q = std::make_shared<const Tensor>(Shape{{"N", 1}, {"L", 2}, {"H·D", 3}},
                                                   std::vector<double>{1, 2, 3, -4, 5, 11});
  CHECK(live_text("{sum q}", trace) == "18.0");
  CHECK(live_text("{sum q[0,1,:]}", trace) == "12.0");
  CHECK(live_text("{sum q[:,0:2,1]}", trace) == "7.00");
  CHECK(live_text("{mean q[0,0,:]}", trace) == "2.00");
  CHECK(live_text("{max q} {min q}", trace) == "11.0 −4.00");
  CHECK(live_text("{deviation q[0,0,:]}", trace) == "0.816");
  CHECK(live_text("{difference q[0,0,:] q[0,1,:]}", trace) == "8.00");
  CHECK(live_text("{distinct q} {distinct q[0,0,1]} {distinct mask_bias}", trace) == "6 1 –");
  trace.tensors.q = std::make_shared<const Tensor>(Shape{{"N", 1}, {"L", 1}, {"H·D", 5}},
                                                   std::vector<double>{2, -INFINITY, 2, 0, -INFINITY});
  CHECK(live_text("{distinct q}", trace) == "3");
  trace.tensors.q =
      std::make_shared<const Tensor>(Shape{{"N", 1}, {"L", 1}, {"H·D", 3}}, std::vector<double>{1, NAN, 3});
  CHECK(live_text("{max q} {min q} {sum q}", trace) == "NaN NaN NaN");
  CHECK(live_text("{distinct q}", trace) == "–");
}

TEST_CASE("sizes and shapes are those of the trace") {
  CHECK(live_text("{E} = {H} × {D}, {L} tokens", *welcome()) == "128 = 8 × 16, 12 tokens");
  CHECK(live_text("{shape k_heads}", *welcome()) == "(1,8,12,16)");
  CHECK(live_text("{parameters}", *welcome()) == "66,048");
  CHECK(live_text("{= E * E} {= 0 - 10 * E} {= E * E / 8}", *welcome()) == "16,384 −1,280 2,048");
}

TEST_CASE("answers that take a run of their own are the numbers of that run") {
  const HeadWidthComparison wide = compare_head_width(*welcome());
  CHECK(live_text("{wide output}", *welcome()) == live_number(wide.output.difference));
  CHECK(live_text("{wide scores}", *welcome()) == live_number(wide.score_sum_difference));
  CHECK(live_text("{wide grad.query}", *welcome()) != "–");
  CHECK(live_text("{layouts output}", *welcome()) == "0");
}

TEST_CASE("a pair of columns turns by its frequency, and a scaling says how many times more slowly") {
  const auto of_preset = [](const char* name, const char* text) {
    const Scenario scenario = preset_scenario(name);
    const ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f32);
    const TracePtr trace = reference_forward(inputs.attention);
    return live_text(text, LiveSubject(*trace, &scenario, &inputs));
  };
  // 10000^(−2·7/16) is 0.000316
  CHECK(of_preset("qk_norm", "{turn 0} {turn 7} {turn -1} {turn 8} {turn -9}") == "1.00 3.16e−4 3.16e−4 – –");
  CHECK(of_preset("qk_norm", "{stretch 0} {stretch -1}") == "1.00 1.00");
  CHECK(of_preset("long_context", "{stretch 0} {stretch -1} {= 4 * turn -1}") == "1.00 4.00 3.16e−4");
  CHECK(of_preset("hand_made", "{turn 0} {stretch 0}") == "– –");
}

TEST_CASE("answers that take a run of their own are left out where they are not wanted") {
  CHECK(live_text("{wide output} {layouts output} {E}", *welcome(), LiveAnswers::quick) == "… … 128");
}

TEST_CASE("braces that are none of ours stay") {
  CHECK(live_text("f: {0, 1} → {E}", *welcome()) == "f: {0, 1} → 128");
  CHECK(live_text("} {E", *welcome()) == "} {E");
  CHECK(live_text("{{E}}", *welcome()) == "{128}");
}

TEST_CASE("what a trace does not have is a dash, not an error") {
  for (const char* text : {"{grad.q}", "{scores[0,0,8]}", "{scores[0,0,8,99]}", "{q}", "{sum q[0,5:5,0]}",
                           "{bias_k[0]}", "{difference q k_heads[0,0,0,0]}", "{shape mask_bias}"}) {
    CAPTURE(text);
    CHECK(live_text(text, *welcome()) == "–");
  }
}

TEST_CASE("what nobody could compute is refused with what was meant, and stays as it is written") {
  for (const char* text : {"{",
                           "}",
                           "{scores[0}",
                           "{scores",
                           "{{E}}",
                           "{scoers}",
                           "{sum}",
                           "{sum scoers}",
                           "{X}",
                           "{}",
                           "{median q}",
                           "{scores[--1,0,0,0]}",
                           "{scores[a]}",
                           "{scores[]}",
                           "{scores[0,]}",
                           "{difference q}",
                           "{wide nothing}",
                           "{layouts q}",
                           "{turn}",
                           "{stretch a}",
                           "{distinct}",
                           "{sum q[99999999999999999999]}"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(check_live_text(text), Error);
    if (std::string(text) != "{{E}}") CHECK(live_text(text, *welcome()) == text);
  }
  CHECK_THROWS_WITH_AS(check_live_text("{scoers[0]}"), doctest::Contains("scores"), Error);
}

TEST_CASE("an index below 0 counts from the end") {
  const Trace& trace = *welcome();
  CHECK(live_text("{scores[-1,-8,-12,-1]}", trace) == live_text("{scores[0,0,0,11]}", trace));
  CHECK(live_text("{sum attn_weights[0,4,3,-4:]}", trace) == "0.333");
  CHECK(live_text("{sum attn_weights[0,4,3,0:-4]}", trace) == "0.667");
  CHECK(live_text("{scores[0,0,0,-13]}", trace) == "–");
}

TEST_CASE("the largest of a box, the words, the roles and the settings have their names") {
  const Scenario scenario = preset_scenario("hand_made");
  const ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f32);
  const LiveSubject subject(*welcome(), &scenario, &inputs);
  CHECK(live_text("{argmax attn_weights[0,0,8,:]}", subject) == "7");
  CHECK(live_text("{query 8} → {key argmax attn_weights[0,0,8,:]}, {key -1}", subject) ==
        "it → because, tired");
  CHECK(live_text("{role 0}; {frozen 0}; {scale}; {= √D * scale}", subject) == "previous word; 0; 0.250; 1");
  CHECK(live_text("{mask.value} {inputs.source} {attention.num_kv_heads} {attention.dropout}", subject) ==
        "−∞ text null 0");
  CHECK(live_text("{role 8} {query 12} {frozen 8} {spread 17}", subject) == "– – – –");
  CHECK(live_text("{role 0} {query 0} {mask.value}", *welcome()) == "– – –");
  CHECK(live_text("{spread 16}", subject) == live_text("{deviation scores}", subject));
}

TEST_CASE("the first part whose condition holds is shown") {
  const Trace& trace = *welcome();
  const auto is = [&](const char* text, const char* expected) {
    CAPTURE(text);
    CHECK_NOTHROW(check_live_text(text));
    CHECK(live_text(text, trace) == expected);
  };
  is("{if H = 8: eight | else: other} heads", "eight heads");
  is("{if H = 9: nine | if H > 4: more than four, {H} | else: few}.", "more than four, 8.");
  is("a {if H = 9: nine | else:} b {if H = 9: nine | else:}.", "a b.");
  is("{if H = 8: a {if D = 16: b | else: c} | else: d}", "a b");
  is("{if scores[0,0,8,:] = 1: a | else: a box is no number}", "a box is no number");
  is("{if sum attn_weights[0,0,8,:] ≈ 1 and not (H < 8 or D ≠ 16): a | else: b}", "a");
  is("{if -2 * √D + 3 - 1 <= -6 and 1 / 4 >= 0.25 and H != 7 and D ~ 16.001: a | else: b}", "a");
  is("{if nan = nan and inf > 1 and not (nan < 1) and not (inf ≈ 3) and inf = inf: a | else: b}", "a");
  is("|Δ| {if H = 8: |Δ| | else: b}", "|Δ| |Δ|");
  // What is missing makes neither a condition nor its opposite hold, and a part with a gap is not shown.
  is("{if max mask_bias > 0: a | if not (max mask_bias > 0): b | else: c}", "c");
  is("{if H = 8: {max mask_bias} | else: none}", "none");
  is("{if max mask_bias > 0 or H = 8: a | else: b}", "a");
}

TEST_CASE("a choice without a part that holds is told, and so is a number that is missing") {
  const Trace& trace = *welcome();
  LiveWords words = live_words("Here. {if H = 4: four.} There.", trace);
  CHECK(words.text == "Here. There.");
  CHECK(words.dropped == std::vector<std::string>{"if H = 4"});
  words = live_words("{max mask_bias} {if H = 8: {E} | else: b}", trace);
  CHECK(words.gaps == std::vector<std::string>{"max mask_bias"});
  CHECK(words.dropped.empty());
  REQUIRE(words.claims.size() == 1);
  CHECK(words.claims[0].condition == "H = 8");
  CHECK(words.claims[0].written == "{E}");
  CHECK(words.claims[0].text == "128");
}

TEST_CASE("a condition that nobody could check is refused") {
  for (const char* text : {"{if H = 8 eight}", "{if H = 8: eight", "{if scoers > 1: a}", "{if H = : a}",
                           "{if (H = 8: a}", "{if H = 'a: b}", "{if H = 8: a | else: b | if H = 9: c}",
                           "{= H +}", "{= H 8}", "{spread}", "{habit induction}", "{habit foo 1}",
                           "{trained colour}", "{query x}", "{if : a}", "{if attention.heads = 8: a}"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(check_live_text(text), Error);
    CHECK(live_text(text, *welcome()).find("{if ") ==
          (std::string(text).starts_with("{if ") ? 0 : std::string::npos));
  }
  const std::string deep(100000, '(');
  CHECK_THROWS_AS(check_live_text("{if " + deep + ": a}"), Error);
  std::string parts;
  for (int i = 0; i < 2000; ++i) parts += "{if H: ";
  CHECK_THROWS_AS(check_live_text(parts), Error);
}

TEST_CASE("numbers have three digits and a real minus sign") {
  CHECK(live_number(0.0) == "0");
  CHECK(live_number(-0.0) == "0");
  CHECK(live_number(1.0) == "1.00");
  CHECK(live_number(-12.345) == "−12.3");
  CHECK(live_number(1234.5) == "1,234");
  CHECK(live_number(-999.7) == "−1,000");
  CHECK(live_number(123.4) == "123");
  CHECK(live_number(0.08321) == "0.083");
  CHECK(live_number(1.2207e-7) == "1.22e−7");
  CHECK(live_number(-3.25e8) == "−3.25e8");
  CHECK(live_number(-INFINITY) == "−∞");
  CHECK(live_number(NAN) == "NaN");
}

TEST_CASE("what a trace has no number for is named as it is written") {
  const std::string text = "{scores[0,0,99,1]} and {E} and {max grad.q[0,0,:]}";
  CHECK(live_words(text, *welcome()).gaps ==
        std::vector<std::string>{"scores[0,0,99,1]", "max grad.q[0,0,:]"});
  CHECK(live_words("{E} {shape q}", *welcome()).gaps.empty());
}

TEST_CASE("without a trace the longest part of each choice is kept, and numbers are left out") {
  CHECK(plain_live_text("Plain text.") == "Plain text.");
  CHECK(plain_live_text("It gives {attn_weights[0,0,8,7]} to {key 7}.") == "It gives … to ….");
  CHECK(plain_live_text("{if H = 1: One head | else: {H} heads side by side}: look.") ==
        "… heads side by side: look.");
  CHECK(plain_live_text("{if max output < 1: A{if E > 2: , and more | else:} | else: B}") == "A, and more");
  CHECK(plain_live_text("{not a number} stays") == "{not a number} stays");
}
