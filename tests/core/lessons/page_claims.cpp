#include "tests/core/lessons/page_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/core/lessons/page_measures.h"

namespace headwise::lessons_test {
namespace {

// The keys that no bias_k and no zero row has been appended to.
Index own_and_past_keys(See s) {
  return s.size(s.t().key, 1) + (s.t().past_key ? s.size(s.t().past_key, 2) : 0);
}

const std::vector<PageClaim> claims{
    // questions: why more than one head
    {"Could it give both as much in one head",
     [](See s) { return s.heads() > 7 && s.says(s.weight(7, 9, 2)) && s.says(s.weight(1, 9, 0)); }},
    {"Could a query give two tokens nearly all", [](See) { return true; }},
    {"No: together ",
     [](See s) {
       return s.weight(7, 9, 2) + s.weight(1, 9, 0) > 1 && near(s.weights_sum(7, 9, 0, s.keys()), 1.0);
     }},
    {"Here it could: together ",
     [](See s) {
       return s.weight(7, 9, 2) + s.weight(1, 9, 0) < 1.003 && near(s.weights_sum(7, 9, 0, s.keys()), 1.0);
     }},
    {"One head has one row for each query",
     [](See s) { return s.heads() == 1 && s.says(s.weights_sum(0, 9, 0, s.keys())); }},
    {"heads can look at ", [](See s) { return s.heads() > 1 && s.says(fmt::format("{}", s.heads())); }},
    {"That head 7 does this alone",
     [](See s) {
       const ParametersSpec& of = s.scenario.parameters;
       return of.source == ParameterSource::model && of.file == "builtin:sentences" && of.layer == 1;
     }},
    {"It has the parameters of all heads", [](See s) { return s.heads() == 1; }},
    // break_it
    {"One head", [](See s) { return s.heads() == 1; }},
    {" heads", [](See s) { return s.heads() > 1 || s.text.size() > 12; }},
    {"no longer divided", [](See s) { return near(scale(s), 1.0); }},
    {"Scores are multiplied by",
     [](See s) { return s.says(scale(s)) || s.says(fmt::format("{}", 1.0 / s.options().temperature)); }},
    {"Scores are divided by",
     [](See s) { return s.options().temperature > 1 && s.says(fmt::format("{}", s.options().temperature)); }},
    {"The temperature is 1", [](See s) { return s.options().temperature == 1; }},
    {"nearly all of its row", [](See s) { return largest_weight_of_all(s) > 0.94; }},
    {"The largest weight is", [](See s) { return s.text.find("NaN") == std::string::npos; }},
    {"no longer know where", [](See s) { return !s.scenario.inputs.positions; }},
    {"Which heads know where", [](See s) { return s.scenario.inputs.positions; }},
    {"as much as any other",
     [](See s) {
       return hand_made(s) && near(s.weight(0, 8, 7), s.smallest_weight(0, 8)) &&
              near(s.weight(0, 8, 7), s.largest_weight(0, 8));
     }},
    {"which looks for the previous word", [](See s) { return hand_made(s) && s.says(s.weight(0, 8, 7)); }},
    {"still finds it",
     [](See s) {
       return hand_made(s) && near(s.weight(1, 5, 0), s.largest_weight(1, 5)) && s.says(s.weight(1, 5, 0));
     }},
    {"which looks for the same word", hand_made},
    {"for the first query. Does it get",
     [](See s) { return s.blocked(0, 0, -1) == (s.text.find("writes") != std::string::npos); }},
    {"instead of −∞", [](See s) { return std::isfinite(fill(s)); }},
    {"The mask writes",
     [](See s) {
       return s.blocked(0, 0, s.keys() - 1) &&
              s.says(std::isinf(fill(s)) ? "−∞"
                                         : fmt::format("{}{}", fill(s) < 0 ? "−" : "", std::abs(fill(s))));
     }},
    {"Nothing blocks", [](See s) { return !s.blocked(0, 0, s.keys() - 1); }},
    {"although it is blocked",
     [](See s) { return s.blocked(4, 0, s.keys() - 1) && s.weight(4, 0, s.keys() - 1) > 0; }},
    {"No: the blocked key",
     [](See s) { return s.blocked(4, 0, s.keys() - 1) && s.weight(4, 0, s.keys() - 1) < 1e-40; }},
    {"is not blocked and has",
     [](See s) { return !s.blocked(4, 0, s.keys() - 1) && s.says(s.weight(4, 0, s.keys() - 1)); }},
    {"No query here has a key left", [](See s) { return s.blocked_pairs() == pairs(s); }},
    {"a row of −∞", [](See s) { return fill(s) == -INFINITY; }},
    {"nothing but −∞", [](See s) { return fill(s) == -INFINITY || !row_blocked(s, 0, 0); }},
    {"a row of nothing but", [](See s) { return std::isfinite(fill(s)); }},
    {"nothing but ", [](See) { return true; }},
    {"The first query has keys left", [](See s) { return !row_blocked(s, 0, 0); }},
    {"is not a number", [](See s) { return finite_scores(s, 0, 0) == 0 && std::isnan(s.weight(0, 0, 0)); }},
    {"Every row is blocked here", [](See s) { return s.blocked_pairs() == pairs(s) && ends_in_nan(s); }},
    {"writes zeros",
     [](See s) {
       return finite_scores(s, 0, 0) == 0 && s.options().fully_masked_rows == FullyMaskedRows::zero;
     }},
    {"the first query has ", [](See s) { return s.says(fmt::format("{}", finite_scores(s, 0, 0))); }},
    {"overflowed in v",
     [](See s) {
       return !std::isfinite(s.at(s.t().v_heads, {0, 4, 11, 0})) && s.blocked(4, 3, 11);
     }},
    {"0 · ∞ is",
     [](See s) {
       return s.weight(4, 3, 11) < 1e-40 && std::isinf(s.at(s.t().v_heads, {0, 4, 11, 0})) &&
              std::isnan(s.head_output(4, 3, 0)) && groups(s) == s.heads();
     }},
    {"uniform attention to",
     [](See s) {
       return s.largest_weight(0, 8) < 2.0 / static_cast<double>(s.keys()) && s.says(s.weight(0, 8, 7));
     }},
    {"and no word more than", [](See s) { return s.says(s.largest_weight(0, 8)) && s.says(s.weight(0, 8, 7)); }},
    {"has become a dictionary", [](See s) { return s.largest_weight(0, 8) > 0.999; }},
    {"not a dictionary look-up yet", [](See s) { return s.largest_weight(0, 8) < 0.9996; }},
    {"There is one query head", [](See s) { return s.heads() == 1; }},
    {"(multi-query attention)", [](See s) { return groups(s) == 1 && s.heads() > 1; }},
    {"(grouped-query attention)", [](See s) { return groups(s) > 1 && groups(s) < s.heads(); }},
    {"its own keys and values", [](See s) { return groups(s) == s.heads(); }},
    {"All heads must find", [](See s) { return groups(s) == 1 && s.heads() > 1; }},
    {"Each group of", [](See s) { return groups(s) > 1 && groups(s) < s.heads(); }},
    {"Nothing is shared here", [](See s) { return groups(s) == s.heads(); }},
    {"Every number of concat is 0", [](See s) { return all_zero(s.t().concat); }},
    {"is the bias of W_O",
     [](See s) { return has(s.t().out_proj_bias) && near(s.output(0, 0), s.output(-1, 0)); }},
    {"there is no bias", [](See s) { return !s.t().out_proj_bias; }},
    {"Concat is not all zeros", [](See s) { return !all_zero(s.t().concat); }},
    {"Positions are off", [](See s) { return !s.scenario.inputs.positions; }},
    {"'one word back'", [](See s) { return s.is_frozen(0) && s.weight(0, 8, 7) == 1.0; }},
    {"0 is frozen", [](See s) { return s.is_frozen(0); }},
    {"Head 0 is not frozen", [](See s) { return !s.is_frozen(0); }},
    {"Yes: '", [](See s) { return s.is_frozen(0) && s.weight(0, 8, 7) == 1.0; }},
    {"no longer see positions", [](See s) { return !s.scenario.inputs.positions; }},
    {"the frozen weights multiply", [](See s) { return s.is_frozen(0) && s.says(s.weight(0, 8, 7)); }},
    {"as its scores say", [](See s) { return !s.is_frozen(0) && s.says(s.weight(0, 8, 7)); }},
    {"'because' becomes", [](See s) { return s.is_frozen(0) && key(s, 7) == "'although'"; }},
    {"Word 7 is", [](See s) { return s.is_frozen(0) && s.says(key(s, 7)); }},
    {"Yes: the", [](See s) { return key(s, 7) == "'although'"; }},
    {"begins with",
     [](See s) {
       return s.is_frozen(0) && near(s.head_output(0, 8, 0), s.at(s.t().v_heads, {0, 0, 7, 0}));
     }},
    {"Nothing is dropped", [](See s) { return s.options().dropout == 0; }},
    {"Every weight is dropped", [](See s) { return s.options().dropout == 1; }},
    {"set to 0 with probability", [](See s) { return s.says(fmt::format("{}", s.options().dropout)); }},
    {"of a head that is not frozen", [](See s) { return !s.options().frozen_heads.empty(); }},
    {"In head 4, row 8 sums",
     [](See s) {
       double sum = 0.0;
       for (Index j = 0; j < s.keys(); ++j) sum += s.at(s.t().dropped_weights, {0, 4, 8, j});
       return s.says(sum);
     }},
    // first_walk
    {"1 token,", [](See s) { return s.queries() == 1; }},
    {" tokens, each", [](See s) { return s.queries() > 1 && s.says(fmt::format("{}", s.queries())); }},
    {" each a row of ", [](See s) { return module(s) && s.says(fmt::format("{}", s.size(s.t().query, 2))); }},
    {"The left columns encode",
     [](See s) { return s.scenario.inputs.source == InputSource::text && !s.inputs.model_input; }},
    {"its position;", [](See s) { return s.scenario.inputs.positions; }},
    {"since positions are off",
     [](See s) {
       return !s.scenario.inputs.positions && s.at(s.t().query, {0, s.queries() - 1, 64}) == 0.0;
     }},
    {"Three matrices make",
     [](See s) {
       return module(s) && s.says(s.at(s.t().q, {0, 8, 3})) &&
              s.says(fmt::format("{}", s.size(s.t().query, 2)));
     }},
    {"and a bias", [](See s) { return has(s.t().in_proj_bias); }},
    {"pieces of", [](See s) { return module(s) && s.says(fmt::format("{}", width(s))) && s.heads() > 1; }},
    {"would be cut", [](See s) { return s.heads() == 1; }},
    {"was built to look at the previous", hand_made},
    {"the largest in this row",
     [](See s) {
       for (Index j = 0; j < s.keys(); ++j)
         if (s.says(s.score(0, 8, j)) && s.says(key(s, j))) {
           for (Index o = 0; o < s.keys(); ++o)
             if (s.score(0, 8, o) > s.score(0, 8, j) + 1e-3 * std::abs(s.score(0, 8, j))) goto next;
           return true;
         next:;
         }
       return false;
     }},
    {"every dot product in this row",
     [](See s) {
       for (Index j = 1; j < s.keys(); ++j)
         if (!near(s.score(0, 8, j), s.score(0, 8, 0)) && std::abs(s.score(0, 8, j)) > 1e-5) return false;
       return true;
     }},
    {" / √",
     [](See s) {
       return std::isnan(s.score(0, 8, 7)) || near(s.scaled(0, 8, 7), s.score(0, 8, 7) / std::sqrt(width(s)));
     }},
    {" · ",
     [](See s) {
       if (s.text.find("Σ") != std::string::npos) return true;  // a formula
       return s.text.find("NaN") != std::string::npos ||
              (near(s.score(0, 8, 7) * scale(s), s.scaled(0, 8, 7)) && s.says(s.scaled(0, 8, 7)));
     }},
    {"and capped at", [](See s) { return s.options().softcap > 0 && s.says(s.scaled(0, 8, 7)); }},
    {"Here every query may look",
     [](See s) {
       const Index i = s.queries() - 1, j = s.keys() - 1;
       return s.blocked_pairs() == 0 && near(s.masked(0, i, 0), s.scaled(0, i, 0)) &&
              near(s.masked(0, 0, j), s.scaled(0, 0, j));
     }},
    {"of all heads are", [](See s) { return s.says(fmt::format("{}", s.blocked_pairs())); }},
    {"blocks no pair", [](See s) { return s.blocked_pairs() == 0 && has(s.t().mask_bias); }},
    {"'causal' is set", [](See s) { return s.scenario.mask.is_causal; }},
    {"Set 'causal'", [](See s) { return !s.scenario.mask.is_causal; }},
    {"all later steps follow", [](See s) { return s.options().frozen_heads.empty(); }},
    {"weights that sum to 1", [](See s) { return sums_to_one(s, 0, 8) && !s.is_frozen(0); }},
    {"Each score s becomes exp",
     [](See s) {
       return sums_to_one(s, 0, 8) && !s.is_frozen(0) && s.says(s.weight(0, 8, 7)) && s.says(s.weight(0, 8, 6));
     }},
    {"The result starts with",
     [](See s) {
       return s.says(s.at(s.t().dropped_weights, {0, 0, 8, 7})) && s.says(s.head_output(0, 8, 0));
     }},
    {"The same rows", [](See s) { return s.heads() > 1 && s.says(fmt::format("{}", s.heads())); }},
    {"was built to find", hand_made},
    {"head 2 gives", [](See s) { return s.says(s.weight(2, 8, 0)) || s.says(s.largest_weight(2, 8)); }},
    {"gives every word", [](See s) { return near(s.smallest_weight(4, 8), s.largest_weight(4, 8)); }},
    {"and head 4 ", [](See s) { return s.says(s.weight(4, 8, 0)); }},
    {"stand side by side",
     [](See s) { return s.heads() > 1 && s.size(s.t().concat, 2) == s.heads() * value_width(s); }},
    {"stands alone", [](See s) { return s.heads() == 1; }},
    {"W_O reads", module},
    {"all ", [](See) { return true; }},
    {"the one head", [](See s) { return s.heads() == 1; }},
    // questions
    {"cut out of one of these tensors", [](See s) { return module(s) && s.heads() > 1; }},
    {"The projection is cut",
     [](See s) {
       return module(s) && s.heads() > 1 && s.says(s.at(s.t().q_heads, {0, 1, 8, 3})) &&
              s.says(fmt::format("{}", 2 * width(s) - 1));
     }},
    {"hold the same numbers", [](See s) { return !s.scenario.attention.kdim && !s.scenario.attention.vdim; }},
    {"parameters of q, k and v",
     [](See s) {
       const TraceTensors& t = s.t();
       Index numbers = 0;
       for (const TensorPtr& of :
            {t.in_proj_weight, t.q_proj_weight, t.k_proj_weight, t.v_proj_weight, t.in_proj_bias})
         numbers += of ? of->size() : 0;
       return s.says(fmt::format("{}", numbers));
     }},
    {"Here it is one, (", [](See s) { return has(s.t().in_proj_weight); }},
    {"Here they are separate", [](See s) { return has(s.t().q_proj_weight); }},
    {"are stacked: the first",
     [](See s) {
       return s.size(s.t().in_proj_weight, 0) ==
                  s.heads() * width(s) + groups(s) * (width(s) + value_width(s)) &&
              s.says(fmt::format("{}", s.heads() * width(s)));
     }},
    {"are separate, with shapes", [](See s) { return has(s.t().q_proj_weight) && has(s.t().v_proj_weight); }},
    {"Only head 0", [](See s) { return module(s) && s.heads() > 1 && s.says(s.output(8, 0)); }},
    {"The only one, head 0", [](See s) { return s.heads() == 1; }},
    {"Same matrices", [](See s) { return groups(s) == s.heads(); }},
    {"The same matrices, with", [](See s) { return groups(s) < s.heads(); }},
    {"There is one head already", [](See s) { return s.heads() == 1; }},
    {"where the largest output is",
     [](See s) {
       double most = -INFINITY;
       for (Index i = 0; i < s.queries(); ++i)
         for (Index c = 0; c < s.size(s.t().output, 2); ++c) most = std::max(most, s.output(i, c));
       return s.says(most) || s.scenario.inputs.batch > 1;
     }},
    {"softmaxes and can look", [](See s) { return s.heads() > 1; }},
    {"are the sum of the", [](See s) { return s.heads() > 1; }},
    {"The wide head", [](See s) { return s.heads() > 1; }},
    {"The gradients differ", [](See s) { return has(s.t().in_proj_weight); }},
    {"in both", [](See s) { return groups(s) == s.heads(); }},
    {"view(N, L, H, D) only names",
     [](See s) {
       return module(s) && s.heads() > 1 && s.queries() > 1 && s.says(fmt::format("{}", s.heads() * width(s)));
     }},
    {"both readings are the same", [](See s) { return s.heads() == 1 || s.queries() == 1; }},
    {"Because a view moves no float", [](See s) { return module(s) && s.heads() > 1 && s.queries() > 1; }},
    {"is (N, L, H, Dv) already",
     [](See s) { return s.heads() > 1 && s.queries() > 1 && s.scenario.inputs.batch_first; }},
    {"are an addition", module},
    {"+ the bias", [](See s) { return has(s.t().out_proj_bias); }},
    {"gainₕ", [](See s) { return s.scenario.head_gain.has_value(); }},
    {"With √D. Standard deviations",
     [](See s) { return follows_root(s) && s.says(s.spread(1)) && s.says(s.spread(width(s))); }},
    {"these do not follow it", [](See s) { return s.says(s.spread(1)) && s.says(s.spread(width(s))); }},
    {"is divided out",
     [](See s) { return s.options().softcap > 0 || near(scale(s), 1.0 / std::sqrt(width(s))); }},
    {"Over all heads the spread after the scale is",
     [](See s) { return s.options().softcap > 0 || s.says(std::abs(scale(s)) * s.spread(width(s))); }},
    {"Each query's row",
     [](See s) {
       double column = 0.0;
       for (Index i = 0; i < s.queries(); ++i) column += s.weight(2, i, 0);
       return sums_to_one(s, 2, 5) && s.says(column);
     }},
    {"over the last two keys",
     [](See s) {
       const auto padded = [&](Index, Index j) { return j >= s.keys() - 2; };
       return blocked_exactly(s, 0, padded) && fill(s) == -INFINITY;
     }},
    {", 0 and −∞,", [](See s) { return s.blocked(0, 0, s.keys() - 1) && !s.blocked(0, 0, 0); }},
    {"here the last two columns",
     [](See s) { return blocked_exactly(s, 4, [&](Index i, Index j) { return j >= s.keys() - 2 || j > i; }); }},
    {"The last 3 tokens are padding",
     [](See s) {
       for (Index i = 0; i < s.queries(); ++i)
         for (Index j = s.keys() - 3; j < s.keys(); ++j)
           if (!s.blocked(4, i, j)) return false;
       return s.keys() >= 3;
     }},
    {"Like any other row's", [](See s) { return sums_to_one(s, 4, s.queries() - 1); }},
    {"over a blocked score", [](See s) { return s.blocked(4, 0, s.keys() - 1); }},
    {", and not 0. A score of 0 is an ordinary score",
     [](See s) { return fill(s) == 0 && s.weight(4, 0, s.keys() - 1) > 0; }},
    {"because e^−∞ is 0", [](See s) { return fill(s) == -INFINITY && s.weight(4, 0, s.keys() - 1) == 0; }},
    {"the softmax takes e to the power of ",
     [](See s) {
       return std::isfinite(fill(s)) || !s.blocked(4, 0, s.keys() - 1) ||
              !std::isfinite(s.weight(4, 0, s.keys() - 1)) || s.text.starts_with("0");
     }},
    {"has no blocked key", [](See s) { return open_keys(s, 4, 3) == s.keys() || std::isfinite(fill(s)); }},
    {"its sum", [](See s) { return !s.is_frozen(4); }},
    {"What", [](See) { return true; }},
    {"the sum of row 3", [](See) { return true; }},
    {"have already taken their share",
     [](See s) { return s.weights_sum(4, 3, 0, 4) < 0.9995 && s.says(s.weights_sum(4, 3, 0, 4)); }},
    {"next to nothing of this row", [](See s) { return s.weights_sum(4, 3, 0, 4) > 0.998; }},
    {"every number of the output is NaN", ends_in_nan},
    {"PyTorch's module does the same when it returns weights",
     [](See s) {
       return module(s) && s.options().need_weights && fill(s) == -INFINITY && row_blocked(s, 0, 0) &&
              std::isnan(s.weight(0, 0, 0));
     }},
    {"as some kernels do",
     [](See s) { return s.options().fully_masked_rows == FullyMaskedRows::zero && row_blocked(s, 0, 0); }},
    {"words that should be hidden",
     [](See s) {
       return std::isfinite(fill(s)) && row_blocked(s, 0, 0) &&
              near(s.weight(0, 0, 0), 1.0 / static_cast<double>(s.keys()));
     }},
    {"finite scores",
     [](See s) { return s.says(fmt::format("{}", finite_scores(s, 0, 0))) && s.says(s.largest_weight(0, 0)); }},
    {"After the softmax, yes", [](See s) { return sums_to_one(s, 4, 8); }},
    {"only on average: this one", [](See s) { return s.options().dropout > 0 && !s.is_frozen(4); }},
    {"Dropout with p = 1", [](See s) { return s.options().dropout == 1; }},
    {"it leaves head 4 unchanged", [](See s) { return s.options().dropout == 0 || s.is_frozen(4); }},
    {"need_weights is False", [](See s) { return !s.options().need_weights; }},
    {"Not unless you ask",
     [](See s) {
       return s.size(s.t().attn_output_weights, 0) > 0 && s.t().attn_output_weights->shape().rank() == 3;
     }},
    {"A sharp head disappears",
     [](See s) {
       double sum = 0.0;
       for (Index h = 0; h < s.heads(); ++h) sum += s.at(s.t().dropped_weights, {0, h, 8, 7});
       return s.at(s.t().dropped_weights, {0, 0, 8, 7}) > 1.9 * sum / static_cast<double>(s.heads());
     }},
    {"cannot be told apart", [](See) { return true; }},
    {"Here they are: with", [](See s) { return s.t().attn_output_weights->shape().rank() == 4; }},
    {"Here it is True", [](See s) { return s.scenario.inputs.batch_first; }},
    {"Here it is False", [](See s) { return !s.scenario.inputs.batch_first; }},
    {", is_causal=True", [](See s) { return s.scenario.mask.is_causal; }},
    {"so the last query sees",
     [](See s) {
       return open_keys(s, 0, s.queries() - 1) == s.queries() && s.blocked(0, 0, 1) && fill(s) == -INFINITY &&
              s.says(fmt::format("{}", s.queries()));
     }},
    {"here the diagonal ends at the bottom",
     [](See s) {
       return open_keys(s, 0, s.queries() - 1) == s.keys() &&
              s.options().causal_alignment == CausalAlignment::bottom_right;
     }},
    {"are not blocked for the last query",
     [](See s) { return s.says(fmt::format("{}", open_keys(s, 0, s.queries() - 1))); }},
    {"None: no mask", [](See s) { return s.blocked_pairs() == 0; }},
    {"looks at '", [](See s) { return s.weight(0, 8, 7) > 0.49; }},
    {"Head 0 scores", [](See) { return true; }},
    {"here they are equal", [](See s) { return near(s.score(0, 8, 7), s.score(0, 7, 8), 3e-3); }},
    {"No: the score of 8 → 7",
     [](See s) {
       return !near(s.score(0, 8, 7), s.score(0, 7, 8), 5e-4) && s.says(s.score(0, 8, 7)) &&
              s.says(s.score(0, 7, 8));
     }},
    {"as in head 3", [](See s) { return hand_made(s) && std::abs(s.score(3, 8, 7) - s.score(3, 7, 8)) < 2e-3; }},
    {"Tokens 0 and 3 are both",
     [](See s) { return word(s.inputs.labels.query, 0) == word(s.inputs.labels.query, 3); }},
    {"Token 0 is '", [](See s) { return word(s.inputs.labels.query, 0) != word(s.inputs.labels.query, 3); }},
    {"positions are off", [](See s) { return !s.scenario.inputs.positions; }},
    {"By ",
     [](See s) {
       double most = 0.0;
       for (Index c = 0; c < s.size(s.t().output, 2); ++c) {
         const double a = s.output(0, c), b = s.output(3, c);
         const double d = a == b ? 0.0 : std::abs(a - b);  // equal infinities too
         if (std::isnan(d) || d > most) most = d;
       }
       return s.says(most);
     }},
    {"the two rows differ",
     [](See s) { return !s.scenario.inputs.positions && near(s.output(0, 0), s.output(3, 0)); }},
    {"query heads share", [](See s) { return groups(s) < s.heads(); }},
    {"its own key/value head", [](See s) { return groups(s) == s.heads(); }},
    {"There is only key head 0", [](See s) { return groups(s) == 1; }},
    {"Its own, ", [](See s) { return groups(s) == s.heads(); }},
    {"key head 1", [](See s) { return groups(s) > 1; }},
    {"key head 0 and the rest key head 1",
     [](See s) { return groups(s) == 2 && s.says(fmt::format("{}", s.heads() / 2 - 1)); }},
    {"use key head 0, the next ",
     [](See s) {
       return groups(s) > 2 && groups(s) < s.heads() && s.says(fmt::format("{}", s.heads() / groups(s)));
     }},
    {"which would give query head 1", [](See s) { return groups(s) > 1 && groups(s) < s.heads(); }},
    {"and the rest from the others",
     [](See s) { return sums_to_one(s, 0, 8) && s.options().dropout == 0 && s.says(s.weight(0, 8, 7)); }},
    {"in heads that are not frozen", [](See s) { return !s.options().frozen_heads.empty(); }},
    {"One key/value row each", [](See s) { return s.keys() == own_and_past_keys(s) + 2; }},
    {"One key/value row is appended", [](See s) { return s.keys() == own_and_past_keys(s) + 1; }},
    {"Neither is on here", [](See s) { return !has(s.t().bias_k) && !s.options().add_zero_attn; }},
    {"query 8 of head 0 gives",
     [](See s) { return s.says(s.weights_sum(0, 8, own_and_past_keys(s), s.keys())); }},
    {"as here, v_heads", [](See s) { return width(s) != value_width(s); }},
    {"the first to need the values' width", module},
    {"and concat would have",
     [](See s) {
       return width(s) != value_width(s) && s.says(fmt::format("{}", s.heads() * width(s))) &&
              s.says(fmt::format("{}", s.heads() * value_width(s)));
     }},
    {"the output gets the keys' width", [](See s) { return !module(s); }},
    {"(here both have", [](See s) { return width(s) == value_width(s); }},
};

}  // namespace

std::span<const PageClaim> page_claims() {
  static const std::vector<PageClaim> all = [] {
    std::vector<PageClaim> joined = claims;
    for (const std::vector<PageClaim>& more :
         {training_claims(), since_claims(), option_claims(), convention_claims()})
      joined.insert(joined.end(), more.begin(), more.end());
    return joined;
  }();
  return all;
}

}  // namespace headwise::lessons_test
