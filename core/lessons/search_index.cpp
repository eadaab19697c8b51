#include "core/lessons/search_index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/lessons/search_terms.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr std::size_t longest_question = 512;  // bytes; the rest is ignored

// BM25F, with the fields title, question and text
constexpr std::array<double, 3> field_weight{2.6, 3.3, 1.0};
constexpr std::array<double, 3> field_length_matters{0.15, 0.6, 0.85};  // b: 0 not at all, 1 in full
constexpr double saturation = 2.0;                                      // k1

// Tuned on the questions of tests/app/panels/ask_questions.json that are not held out.
// of a word that belongs to one of the question
constexpr double related_weight = 0.7, related_evidence = 0.5;
constexpr double pair_weight = 0.5;  // of two neighbours in the question that are neighbours in the page
constexpr double spelling_weight = 0.9,
                 spelling_evidence = 0.6;  // of one that is spelled nearly so, or begins so
constexpr double whole_title = 0.8;        // how much a page gains whose title is all asked for
constexpr double least_share = 0.6, least_prominent = 0.35;  // of what is asked, for an answer
constexpr double all_words = 0.7;       // how much a page gains that has all words of the question
constexpr double example_rarity = 0.8;  // of a number or a letter, relative to a word as rare
constexpr double unknown_rarity = 0.8;  // of a word that no page has, relative to one that a single page has

std::size_t distance_allowed(const std::string& word) {
  return word.size() >= 8 ? 2 : word.size() >= 5 ? 1 : 0;
}

// A number, or the letter of an axis
bool is_example(const std::string& word) {
  return word.size() == 1 || std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

bool has_digit(const std::string& word) {
  return std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

std::string pair_of(const std::string& first, const std::string& second) {
  return first + ' ' + second;
}

// The related words by the stem of the one that is asked.
const std::multimap<std::string, std::string>& related_stems() {
  static const auto all = [] {
    std::multimap<std::string, std::string> stems;
    for (const WordRow& related : related_words())
      for (const SearchTerm& asked : search_terms(related.key))
        for (const SearchTerm& other : search_terms(related.value)) stems.emplace(asked.stem, other.stem);
    return stems;
  }();
  return all;
}

}  // namespace

SearchIndex::SearchIndex(std::span<const SearchPage> pages) {
  std::vector<std::array<std::vector<SearchTerm>, 3>> fields;
  std::array<double, 3> mean_length{};
  for (const SearchPage& page : pages) {
    fields.push_back({search_terms(page.title), search_terms(page.question), search_terms(page.text)});
    weights_.push_back(page.weight);
    for (std::size_t f = 0; f < 3; ++f)
      mean_length[f] += static_cast<double>(fields.back()[f].size()) / static_cast<double>(pages.size());
  }
  for (std::size_t i = 0; i < pages.size(); ++i) {
    std::map<std::string, Posting> of_page;
    for (std::size_t f = 0; f < 3; ++f) {
      const double relative = static_cast<double>(fields[i][f].size()) / std::max(1.0, mean_length[f]);
      const double length = 1.0 - field_length_matters[f] + field_length_matters[f] * relative;
      for (const SearchTerm& term : fields[i][f]) {
        Posting& posting = of_page.try_emplace(term.stem, Posting{i, 0.0, false, false}).first->second;
        posting.frequency += field_weight[f] / length;
        posting.in_title = posting.in_title || f == 0;
        posting.prominent = posting.prominent || f < 2;
      }
    }
    for (auto& [stem, posting] : of_page) postings_[stem].push_back(posting);
    std::map<std::string, double> pairs_of_page;
    for (std::size_t f = 0; f < 3; ++f) {
      for (std::size_t k = 1; k < fields[i][f].size(); ++k) {
        double& most = pairs_of_page[pair_of(fields[i][f][k - 1].stem, fields[i][f][k].stem)];
        most = std::max(most, field_weight[f]);
      }
    }
    for (const auto& [pair, weight] : pairs_of_page) pairs_[pair].push_back({i, weight});
  }
  title_rarity_.assign(pages.size(), 0.0);
  for (const auto& [stem, of_stem] : postings_)
    for (const Posting& posting : of_stem)
      if (posting.in_title) title_rarity_[posting.page] += rarity(stem);
}

double SearchIndex::rarity(const std::string& stem) const {
  const double pages = static_cast<double>(weights_.size());
  const auto found = postings_.find(stem);
  const double having = found == postings_.end() ? 1.0 : static_cast<double>(found->second.size());
  const double all = std::log(1.0 + (pages - having + 0.5) / (having + 0.5));
  if (is_example(stem)) return example_rarity * all;
  return found == postings_.end() ? unknown_rarity * all : all;
}

// Words that are spelled nearly like one that no page has; those that an unfinished one begins.
void SearchIndex::add_spellings(const std::string& stem, bool unfinished, Wanted& word) const {
  if (unfinished && stem.size() >= 3) {
    for (auto at = postings_.lower_bound(stem); at != postings_.end() && at->first.starts_with(stem); ++at)
      word.stems.emplace(at->first, StemMatch{spelling_weight, spelling_evidence});
  }
  const std::size_t allowed = has_digit(stem) ? 0 : distance_allowed(stem);
  if (!word.stems.empty() || allowed == 0) return;
  std::size_t least = allowed;
  for (const auto& [other, of_other] : postings_) {
    if (other.size() + allowed < stem.size() || other.size() > stem.size() + allowed || other[0] != stem[0])
      continue;
    const std::size_t distance = edit_distance(stem, other);
    if (distance > least) continue;
    if (distance < least) word.stems.clear();
    least = distance;
    word.stems.emplace(other, StemMatch{spelling_weight, spelling_evidence});
  }
}

std::vector<SearchIndex::Wanted> SearchIndex::wanted(std::string_view question) const {
  const std::vector<SearchTerm> terms = search_terms(question);
  std::vector<Wanted> words;
  std::set<std::string> seen;
  for (const SearchTerm& term : terms) {
    if (!seen.insert(term.stem).second) continue;
    Wanted word;
    if (postings_.contains(term.stem))
      word.stems.emplace(term.stem, StemMatch{});
    else
      add_spellings(term.stem, term.end == question.size(), word);
    word.telling = rarity(term.stem);
    if (!word.stems.empty() && !postings_.contains(term.stem)) {
      word.telling = 0.0;
      for (const auto& [stem, standing] : word.stems) word.telling = std::max(word.telling, rarity(stem));
    }
    const auto [begin, end] = related_stems().equal_range(term.stem);
    for (auto at = begin; at != end; ++at)
      if (postings_.contains(at->second))
        word.stems.emplace(at->second, StemMatch{related_weight, related_evidence});
    words.push_back(std::move(word));
  }
  return words;
}

SearchFound SearchIndex::find(std::string_view question, std::size_t most) const {
  SearchFound found;
  const std::vector<Wanted> words = wanted(question.substr(0, longest_question));
  std::vector<SearchHit> pages(weights_.size());
  std::vector<double> of_title(weights_.size(), 0.0);
  double telling = 0.0;
  for (const Wanted& word : words) {
    telling += word.telling;
    std::map<std::size_t, SearchHit> best;
    for (const auto& [stem, standing] : word.stems) {
      found.stems.push_back(stem);
      const double rare = rarity(stem);
      for (const Posting& posting : postings_.find(stem)->second) {
        SearchHit& hit = best[posting.page];
        hit.score =
            std::max(hit.score, standing.weight * rare * posting.frequency / (saturation + posting.frequency));
        hit.share = std::max(hit.share, standing.evidence);
        if (posting.prominent) hit.prominent = std::max(hit.prominent, standing.evidence);
        if (posting.in_title) of_title[posting.page] += standing.weight * rare;
      }
    }
    for (const auto& [page, hit] : best) {
      pages[page].score += hit.score;
      pages[page].share += hit.share * word.telling;
      pages[page].prominent += hit.prominent * word.telling;
    }
  }
  const std::vector<SearchTerm> terms = search_terms(question.substr(0, longest_question));
  for (std::size_t k = 1; k < terms.size(); ++k) {
    const auto together = pairs_.find(pair_of(terms[k - 1].stem, terms[k].stem));
    if (together == pairs_.end()) continue;
    const double rare = std::min(rarity(terms[k - 1].stem), rarity(terms[k].stem));
    for (const PairPosting& posting : together->second)
      pages[posting.page].score += pair_weight * rare * posting.weight / (saturation + posting.weight);
  }
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (pages[i].score <= 0.0) continue;
    const double title = title_rarity_[i] > 0.0 ? std::min(1.0, of_title[i] / title_rarity_[i]) : 0.0;
    const double share = pages[i].share / telling;
    found.hits.push_back(
        {i, pages[i].score * weights_[i] * (1.0 + whole_title * title * share) * (1.0 + all_words * share),
         share, pages[i].prominent / telling});
  }
  std::ranges::stable_sort(found.hits, std::greater<>(), &SearchHit::score);
  // A lone word may mean anything, unless it is what the page is about.
  found.answers = !found.hits.empty() && found.hits.front().share >= least_share &&
                  found.hits.front().prominent >= least_prominent &&
                  (words.size() > 1 || of_title[found.hits.front().page] > 0.0);
  if (found.hits.size() > most) found.hits.resize(most);
  return found;
}

namespace {

constexpr std::string_view hole = "…";  // for a number that is not known here

// Where the first sentence ends: after . ? or ! before a blank, or at a line break.
std::size_t sentence_end(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') return i;
    const bool ends = text[i] == '.' || text[i] == '?' || text[i] == '!';
    if (ends && i + 1 < text.size() && text[i + 1] == ' ' && i > 1 && text[i - 1] != '.') return i + 1;
  }
  return text.size();
}

}  // namespace

std::string search_passage(std::string_view text, std::span<const std::string> stems) {
  const std::set<std::string_view> wanted(stems.begin(), stems.end());
  std::string_view best;
  int most = -1;
  while (!text.empty()) {
    const std::size_t end = sentence_end(text);
    const std::string_view sentence = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    // With its numbers left out a sentence looks broken: "it sums to ….".
    if (sentence.empty() || sentence.find(hole) != std::string_view::npos) continue;
    std::set<std::string> having;
    for (const SearchTerm& term : search_terms(sentence))
      if (wanted.contains(term.stem)) having.insert(term.stem);
    const int worth = static_cast<int>(having.size());
    if (worth > most) best = sentence, most = worth;
  }
  return std::string(best);
}

}  // namespace headwise
