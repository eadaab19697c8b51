#include "core/answers/live_text.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "core/answers/head_width_comparison.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"
#include "core/trace/reference_backend.h"

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
  trace.tensors.q =
      std::make_shared<const Tensor>(Shape{{"N", 1}, {"L", 1}, {"H·D", 3}}, std::vector<double>{1, NAN, 3});
  CHECK(live_text("{max q} {min q} {sum q}", trace) == "NaN NaN NaN");
}

TEST_CASE("sizes and shapes are those of the trace") {
  CHECK(live_text("{E} = {H} × {D}, {L} tokens", *welcome()) == "128 = 8 × 16, 12 tokens");
  CHECK(live_text("{shape k_heads}", *welcome()) == "(1,8,12,16)");
  CHECK(live_text("{parameters}", *welcome()) == "66048");
}

TEST_CASE("answers that take a run of their own are the numbers of that run") {
  const HeadWidthComparison wide = compare_head_width(*welcome());
  CHECK(live_text("{wide output}", *welcome()) == live_number(wide.output.difference));
  CHECK(live_text("{wide scores}", *welcome()) == live_number(wide.score_sum_difference));
  CHECK(live_text("{wide grad.query}", *welcome()) != "–");
  CHECK(live_text("{layouts output}", *welcome()) == "0");
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
  for (const char* text :
       {"{", "}", "{scores[0}", "{scores", "{{E}}", "{scoers}", "{sum}", "{sum scoers}", "{X}", "{}",
        "{median q}", "{scores[-1,0,0,0]}", "{scores[a]}", "{scores[]}", "{scores[0,]}", "{difference q}",
        "{wide nothing}", "{layouts q}", "{sum q[99999999999999999999]}"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(check_live_text(text), Error);
    if (std::string(text) != "{{E}}") CHECK(live_text(text, *welcome()) == text);
  }
  try {
    check_live_text("{scoers[0]}");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("scores") != std::string::npos);
  }
}

TEST_CASE("numbers have three digits and a real minus sign") {
  CHECK(live_number(0.0) == "0");
  CHECK(live_number(-0.0) == "0");
  CHECK(live_number(1.0) == "1.00");
  CHECK(live_number(-12.345) == "−12.3");
  CHECK(live_number(1234.5) == "1234");
  CHECK(live_number(0.08321) == "0.083");
  CHECK(live_number(1.2207e-7) == "1.22e−7");
  CHECK(live_number(-3.25e8) == "−3.25e8");
  CHECK(live_number(-INFINITY) == "−∞");
  CHECK(live_number(NAN) == "NaN");
}

TEST_CASE("what a trace has no number for is named as it is written") {
  const std::string text = "{scores[0,0,99,1]} and {E} and {max grad.q[0,0,:]}";
  CHECK(live_gaps(text, *welcome()) == std::vector<std::string>{"scores[0,0,99,1]", "max grad.q[0,0,:]"});
  CHECK(live_gaps("{E} {shape q}", *welcome()).empty());
}
