#include "core/model/tokenizer/tokenizer_json.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "core/files/input_file.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

// A tokenizer has some 8 levels and, for each added token, 8 settings.
constexpr std::size_t most_levels = 32;
constexpr std::size_t most_settings = 1'000'000;
constexpr std::size_t most_entries = 4'000'000;
// Searching for added tokens takes time proportional to the text times the longest of them.
constexpr std::size_t most_content_bytes = 1024;

// Receives the JSON piece by piece: the vocabulary and the merges go into their lists,
// everything else becomes a tree.
class Reader : public nlohmann::json_sax<Json> {
 public:
  Reader(VocabularyPlace place, const std::string& where) : place_(place), where_(where) {}

  TokenizerJson take() { return std::move(made_); }

  bool start_object(std::size_t) override {
    deeper();
    if (long_ == Long::none && at_vocabulary()) {
      made_.has_vocabulary = true;
      return begin(Long::vocabulary);
    }
    if (skipping()) return true;
    if (long_ != Long::none) return python_number_ = true;  // it may stand for Infinity or NaN: see string()
    open_.push_back(add(Json::object()));
    return true;
  }
  bool end_object() override {
    if (python_number_) wrong_entry("an object");
    return end(Long::vocabulary);
  }

  bool start_array(std::size_t) override {
    deeper();
    if (python_number_) wrong_entry("an object");
    if (long_ == Long::none && at_vocabulary()) {
      made_.has_vocabulary = made_.vocabulary_is_list = true;
      return begin(place_ == VocabularyPlace::model ? Long::scores : Long::skipped);
    }
    if (long_ == Long::none && at_merges()) {
      made_.has_merges = true;
      return begin(Long::merges);
    }
    if (skipping()) return true;
    if ((long_ == Long::merges || long_ == Long::scores) && depth_ == long_depth_ + 1) {
      pair_.clear();
      score_.reset();
      return true;
    }
    if (long_ != Long::none) wrong_entry("a list");
    open_.push_back(add(Json::array()));
    return true;
  }
  bool end_array() override {
    if (long_ == Long::merges && depth_ == long_depth_ + 1) {
      if (pair_.size() != 2)
        refuse_input(where_, "a merge is damaged", fmt::format("{} pieces", pair_.size()), "2 pieces");
      count_entry();
      made_.merges.emplace_back(std::move(pair_[0]), std::move(pair_[1]));
      --depth_;
      return true;
    }
    if (long_ == Long::scores && depth_ == long_depth_ + 1) {
      if (pair_.size() != 1 || !score_) wrong_entry(fmt::format("{} parts", pair_.size()));
      count_entry();
      made_.vocabulary.emplace_back(std::move(pair_[0]), std::ssize(made_.vocabulary));
      made_.scores.push_back(*score_);
      --depth_;
      return true;
    }
    return end(long_ == Long::skipped || long_ == Long::scores ? long_ : Long::merges);
  }

  bool key(string_t& key) override {
    if (python_number_ && key != python_number_key) wrong_entry("an object");
    if (python_number_) return true;
    if (long_ == Long::none && open_.back()->contains(key))
      refuse_input(where_, fmt::format("the key \"{}\" occurs twice in one object", key), "", "each key once");
    key_ = std::move(key);
    return true;
  }

  bool string(string_t& text) override {
    if (python_number_) wrong_entry(text);
    if (long_ == Long::scores && depth_ > long_depth_ && pair_.empty()) {
      pair_.push_back(std::move(text));
      return true;
    }
    if (long_ == Long::merges) {
      if (depth_ > long_depth_) {
        if (pair_.size() == 2) refuse_input(where_, "a merge is damaged", "more than 2 pieces", "2 pieces");
        pair_.push_back(std::move(text));
      } else {
        count_entry();
        made_.merges.push_back(parse_merge(text, where_));
      }
      return true;
    }
    return value(std::move(text), "a string");
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (long_ == Long::scores) return score(static_cast<double>(number));
    if (long_ != Long::vocabulary) return value(number, "a number");
    count_entry();
    if (!std::in_range<std::int64_t>(number)) wrong_entry("a number above 63 bits");
    made_.vocabulary.emplace_back(std::move(key_), static_cast<std::int64_t>(number));
    return true;
  }
  bool number_integer(number_integer_t number) override {
    return long_ == Long::scores ? score(static_cast<double>(number)) : value(number, "a negative number");
  }
  bool number_float(number_float_t number, const string_t&) override {
    return long_ == Long::scores ? score(number) : value(number, "a fraction");
  }
  bool null() override { return value(nullptr, "null"); }
  bool boolean(bool flag) override { return value(flag, "true or false"); }
  bool binary(binary_t&) override { return false; }
  bool parse_error(std::size_t position, const std::string& token, const Json::exception& error) override {
    if (dynamic_cast<const Json::out_of_range*>(&error)) {
      const JsonRefusal refusal = number_out_of_range(token, error);
      refuse_input(fmt::format("{}: byte {}", where_, position), refusal.what, refusal.got, refusal.expected);
    }
    refuse_input(where_, "this is not JSON", fmt::format("'{}' at byte {}", token, position),
                 "JSON (RFC 8259)");
  }

 private:
  enum class Long { none, vocabulary, merges, scores, skipped };

  bool in_model() const { return open_.size() == 2 && in_model_; }
  bool at_vocabulary() const {
    if (place_ == VocabularyPlace::top) return open_.empty() && depth_ == 1;
    return place_ == VocabularyPlace::model && in_model() && key_ == "vocab";
  }
  bool at_merges() const { return place_ == VocabularyPlace::model && in_model() && key_ == "merges"; }
  bool skipping() const { return long_ == Long::skipped; }

  void deeper() {
    if (++depth_ > most_levels)
      refuse_input(where_, "it is nested too deeply", "more than 32 levels", "a tokenizer");
  }
  bool begin(Long which) {
    const bool twice = which == Long::merges ? seen_merges_ : seen_vocabulary_;
    if (twice)
      refuse_input(where_, fmt::format("the key \"{}\" occurs twice in one object", key_), "",
                   "each key once");
    (which == Long::merges ? seen_merges_ : seen_vocabulary_) = true;
    long_ = which;
    long_depth_ = depth_;
    return true;
  }
  bool end(Long which) {
    if (long_ == Long::none) {
      open_.pop_back();
    } else if (long_ == which && depth_ == long_depth_) {
      long_ = Long::none;
    }
    --depth_;
    return true;
  }

  void count_entry() {
    if (++entries_ > most_entries)
      refuse_input(where_, "it is too large", "more than 4000000 entries", "a tokenizer");
  }
  [[noreturn]] void wrong_entry(const std::string& got) const {
    if (long_ == Long::merges)
      refuse_input(where_, "the merges are damaged", got, "\"a b\" or [\"a\", \"b\"]");
    if (long_ == Long::scores)
      refuse_input(where_, fmt::format("entry {} of the vocabulary is damaged", made_.scores.size()), got,
                   "[\"PIECE\", SCORE], a finite number");
    refuse_input(where_, fmt::format("the vocabulary is damaged at '{}'", key_), got, "an id of at least 0");
  }

  // Of a piece.
  bool score(double number) {
    if (depth_ == long_depth_ || pair_.size() != 1 || score_ || !std::isfinite(number))
      wrong_entry("a number");
    score_ = number;
    return true;
  }

  template <class T>
  bool value(T&& of, const char* name) {
    if (skipping()) return true;
    if (long_ != Long::none) wrong_entry(name);
    add(Json(std::forward<T>(of)));
    return true;
  }

  // Adds a value at the open position of the tree, and returns its address.
  Json* add(Json value) {
    if (++settings_ > most_settings)
      refuse_input(where_, "it is too large", "more than a million settings", "a tokenizer");
    if (open_.empty()) {
      made_.settings = std::move(value);
      return &made_.settings;
    }
    if (open_.size() == 1) in_model_ = key_ == "model";
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      return &open_.back()->back();
    }
    return &((*open_.back())[key_] = std::move(value));
  }

  const VocabularyPlace place_;
  const std::string& where_;
  TokenizerJson made_;
  std::vector<Json*> open_;  // the open objects and lists of the tree
  std::string key_;          // the last one
  bool in_model_ = false;    // open_[1] is the model
  Long long_ = Long::none;   // what is currently read outside the tree
  std::size_t depth_ = 0, long_depth_ = 0, settings_ = 0, entries_ = 0;
  bool seen_vocabulary_ = false, seen_merges_ = false;
  bool python_number_ = false;  // in an object where none may be
  std::vector<std::string> pair_;
  std::optional<double> score_;
};

}  // namespace

TokenizerJson parse_tokenizer_json(std::string_view text, VocabularyPlace place, const std::string& where) {
  // A zero byte would end the text for the parser, and hide what follows it.
  if (text.find('\0') != std::string_view::npos)
    refuse_input(where, "this is not JSON", "a zero byte", "JSON (RFC 8259)");
  Reader reader(place, where);
  Json::sax_parse(python_json_text(text), &reader);
  TokenizerJson made = reader.take();
  if (place == VocabularyPlace::top ? !made.has_vocabulary || made.vocabulary_is_list
                                    : !made.settings.is_object())
    refuse_input(where, "it is not a tokenizer", "JSON that is not an object", "an object");
  return made;
}

AddedToken read_added_token(const JsonValue& entry, TokenId id) {
  AddedToken token;
  token.id = id;
  token.content = entry.text("content", "");
  token.special = entry.flag("special", false);
  token.single_word = entry.flag("single_word", false);
  token.lstrip = entry.flag("lstrip", false);
  token.rstrip = entry.flag("rstrip", false);
  token.normalized = entry.flag("normalized", !token.special);
  if (token.content.empty() || token.content.size() > most_content_bytes)
    entry.refuse_got(fmt::format("the added token {} is damaged", id),
                     fmt::format("a content of {} bytes", token.content.size()),
                     fmt::format("1 to {}", most_content_bytes));
  return token;
}

std::pair<std::string, std::string> parse_merge(std::string_view line, const std::string& where) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || space == 0 || space + 1 == line.size() ||
      line.find(' ', space + 1) != std::string_view::npos) {
    refuse_input(where, "a merge is damaged", fmt::format("'{}'", line),
                 "two pieces and a space between them");
  }
  return {std::string(line.substr(0, space)), std::string(line.substr(space + 1))};
}

}  // namespace headwise
