#include "core/model/transformer/text_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <mutex>

#include "core/files/input_file.h"
#include "core/files/json_value.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr std::size_t most_named_words = 8;

// Models that may still be in use, by path; the last one is kept alive here too,
// so that an edit does not reopen it.
struct OpenModels {
  struct Entry {
    std::string path;
    FileState state;
    std::weak_ptr<const TextModel> model;
  };
  std::mutex mutex;
  std::vector<Entry> entries;
  std::shared_ptr<const TextModel> last;
};

OpenModels& open_models() {
  static OpenModels models;
  return models;
}

// The words that are not in the vocabulary, without duplicates.
std::string unknown_words(const std::vector<EncodedToken>& tokens, const std::string& text) {
  std::vector<std::string> words;
  for (const EncodedToken& token : tokens) {
    if (!token.unknown || token.special) continue;
    const std::string word = one_line(text.substr(token.begin, token.end - token.begin), 40);
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
  if (words.empty()) return "";
  const std::size_t named = std::min(words.size(), most_named_words);
  std::string names;
  for (std::size_t i = 0; i < named; ++i) names += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", words[i]);
  if (named < words.size()) names += fmt::format(" and {} more", words.size() - named);
  return names;
}

// The first words of the vocabulary, to tell which there are.
std::string known_words(const TokenizerVocabulary& vocabulary) {
  std::string names;
  std::size_t named = 0;
  for (TokenId id = 0; id < vocabulary.end() && named < most_named_words; ++id) {
    if (!vocabulary.contains(id)) continue;
    names += fmt::format("{}{}", named == 0 ? "" : ", ", one_line(vocabulary.piece(id), 40));
    ++named;
  }
  return named < vocabulary.size() ? fmt::format("{} and {} more", names, vocabulary.size() - named) : names;
}

// Throws for words that the vocabulary has no token for.
void require_known(const std::vector<EncodedToken>& tokens, const std::string& text,
                   const TokenizerVocabulary& vocabulary) {
  std::vector<EncodedToken> without_id;
  std::ranges::copy_if(tokens, std::back_inserter(without_id),
                       [](const EncodedToken& token) { return token.id == no_token; });
  if (without_id.empty()) return;
  throw Error(ExitStatus::usage,
              {"the text", "the model does not have these words", unknown_words(without_id, text),
               "its words: " + known_words(vocabulary), ""});
}

// Truncates to `most` tokens, keeping what is put after every text; returns the notice about it.
std::string cut(std::vector<EncodedToken>& tokens, std::size_t most) {
  if (tokens.size() <= most) return "";
  const std::size_t all = tokens.size();
  std::size_t behind = 0;
  while (behind < most && tokens[all - 1 - behind].special &&
         tokens[all - 1 - behind].begin == tokens[all - 1 - behind].end)
    ++behind;
  tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(most - behind),
               tokens.end() - static_cast<std::ptrdiff_t>(behind));
  const std::size_t left_out = all - most;
  return fmt::format(
      "the text has {} tokens, but the model has positions for only {}: {} left out at its end", all, most,
      left_out == 1 ? "the last one is" : fmt::format("the last {} are", left_out));
}

// A smaller share of a vocabulary is padding to a round number, which never occurs in a text.
constexpr Index least_named_share = 256;

// Tokens of the model that its tokenizer has no text for, if they are more than padding.
std::string words_without_text(const Tokenizer& tokenizer, Index vocabulary) {
  Index nameless = 0, first = -1;
  for (Index id = 0; id < vocabulary; ++id) {
    if (tokenizer.vocabulary().contains(static_cast<TokenId>(id))) continue;
    if (first < 0) first = id;
    ++nameless;
  }
  if (nameless <= vocabulary / least_named_share) return "";
  return fmt::format(
      "the tokenizer has no text for {} of the model's {} words: they are shown by number, for example #{}",
      nameless, vocabulary, first);
}

}  // namespace

namespace {

// id2label of config.json; "class 3" for one without a name.
std::vector<std::string> class_names(const ModelConfig& config, Index count) {
  std::vector<std::string> names;
  for (Index id = 0; id < count; ++id) names.push_back(fmt::format("class {}", id));
  const auto named = config.settings->find("id2label");
  if (named == config.settings->end() || !named->is_object()) return names;
  for (Index id = 0; id < count; ++id)
    if (const auto name = named->find(fmt::format("{}", id)); name != named->end() && name->is_string())
      names[static_cast<std::size_t>(id)] = one_line(name->get<std::string>());
  return names;
}

// "[CLS]", "[DIST]", then each patch by its row and column: "r0 c3".
std::vector<std::string> patch_labels(const PatchGrid& grid) {
  std::vector<std::string> labels{"[CLS]", "[DIST]"};
  labels.resize(static_cast<std::size_t>(grid.first_tokens));
  for (Index row = 0; row < grid.rows(); ++row)
    for (Index column = 0; column < grid.columns(); ++column)
      labels.push_back(fmt::format("r{} c{}", row, column));
  return labels;
}

}  // namespace

std::shared_ptr<const TextModel> TextModel::open(const std::string& path) {
  OpenModels& models = open_models();
  std::filesystem::path normal = std::filesystem::absolute(path).lexically_normal();
  if (!normal.has_filename()) normal = normal.parent_path();  // "models/sentences/"
  const std::string absolute = normal.string();
  const FileState state = model_state(path);
  const std::lock_guard lock(models.mutex);
  std::erase_if(models.entries, [](const OpenModels::Entry& entry) { return entry.model.expired(); });
  for (const OpenModels::Entry& entry : models.entries) {
    if (entry.path == absolute && entry.state == state)
      if (const auto model = entry.model.lock()) return models.last = model;
  }
  models.last = nullptr;  // frees its memory before the next one is loaded
  std::shared_ptr<const TextModel> model(new TextModel(path));
  std::erase_if(models.entries, [&](const OpenModels::Entry& entry) { return entry.path == absolute; });
  models.entries.push_back({absolute, state, model});
  return models.last = model;
}

TextModel::TextModel(const std::string& path)
    : files_(std::make_shared<const ModelFiles>(path)),
      layers_(find_attention_layers(*files_)),
      task_(trained_task(files_->folder())) {
  try {
    transformer_ = Transformer::open(files_, layers_);
  } catch (const Error& error) {
    if (error.status() != ExitStatus::input) throw;
    no_transformer_ = error.what();
  }
  if (transformer_ && transformer_->config().patches) {
    no_tokenizer_ = "it reads pictures: set inputs.source to picture, and inputs.picture to a PNG";
    const PatchGrid& grid = *transformer_->config().patches;
    classes_ = class_names(*layers_.config, transformer_->config().vocabulary);
    try {
      processor_ =
          read_picture_processor(files_->folder(), layers_.config->model_type, {grid.height, grid.width});
    } catch (const Error& error) {
      if (error.status() != ExitStatus::input) throw;
      no_picture_ = error.what();
    }
    return;
  }
  no_picture_ = "it reads texts: set inputs.source to text, and inputs.text to one";
  try {
    tokenizer_.emplace(load_tokenizer(files_->folder()));
  } catch (const Error& error) {
    if (error.status() != ExitStatus::input) throw;
    no_tokenizer_ = error.what();
  }
  if (transformer_ && tokenizer_)
    nameless_words_ = words_without_text(*tokenizer_, transformer_->config().vocabulary);
}

ModelText TextModel::read(const std::string& text) const {
  if (!no_text().empty())
    throw Error(ExitStatus::input, {files_->path(), "this model cannot read text", no_text(), "", ""});
  std::vector<EncodedToken> tokens = tokenizer_->encode(text);
  ModelText read;
  const std::string cut_sentence = cut(tokens, static_cast<std::size_t>(transformer_->config().max_positions));
  if (!cut_sentence.empty()) read.notices.push_back(cut_sentence);
  require_known(tokens, text, tokenizer_->vocabulary());
  const std::string unknown = unknown_words(tokens, text);
  if (!unknown.empty()) {
    const auto token =
        std::ranges::find_if(tokens, [](const EncodedToken& each) { return each.unknown && !each.special; });
    read.notices.push_back(
        fmt::format("not in the model's vocabulary, so read as {}: {}", token->piece, unknown));
  }
  for (const EncodedToken& token : tokens) {
    read.ids.push_back(token.id);
    read.labels.push_back(label(token.id));
    read.special.push_back(token.special);
  }
  read.tokens = std::move(tokens);
  return read;
}

ModelText TextModel::read_picture(const std::string& path) const {
  if (!no_picture().empty())
    throw Error(ExitStatus::input,
                {files_->path(), "this model cannot read a picture: " + no_picture(), "", "", ""});
  const PatchGrid& grid = *transformer_->config().patches;
  const FileState state = file_state(path);
  const std::string identity = fmt::format("{} {} {}", path, state.modified, state.bytes);
  const std::lock_guard lock(mutex_);
  if (!last_picture_ || last_picture_->identity != identity) {
    const RgbPicture whole = read_png(path);
    ModelPicture picture{path, identity, grid, prepared(whole, *processor_), nullptr, ""};
    if (picture.shown.width != grid.width || picture.shown.height != grid.height)
      refuse_input(
          files_->path(), "the model reads pictures of one size, and its positions are not stretched",
          fmt::format("{} × {} pixels by preprocessor_config.json", picture.shown.width, picture.shown.height),
          fmt::format("{} × {}", grid.width, grid.height),
          "set size (or crop_size) there to image_size of config.json");
    picture.pixel_values = std::make_shared<const Tensor>(pixel_values(picture.shown, *processor_));
    if (whole.has_alpha) picture.notice = "the picture's transparency is left out: only its colours are read";
    last_picture_ = std::make_shared<const ModelPicture>(std::move(picture));
  }
  ModelText read;
  read.picture = last_picture_;
  read.labels = patch_labels(grid);
  for (Index i = 0; i < read.length(); ++i) {
    read.special.push_back(i < grid.first_tokens);
    EncodedToken& token = read.tokens.emplace_back();
    token.id = static_cast<TokenId>(i);  // no two are the same
    token.special = read.special.back();
  }
  for (const std::string& notice : {read.picture->notice, processor_->assumed})
    if (!notice.empty()) read.notices.push_back(notice);
  return read;
}

std::string TextModel::label(TokenId id) const {
  if (id >= 0 && static_cast<std::size_t>(id) < classes_.size())
    return classes_[static_cast<std::size_t>(id)];
  if (!tokenizer_ || !tokenizer_->vocabulary().contains(id)) return fmt::format("#{}", id);
  if (const std::string& piece = tokenizer_->vocabulary().piece(id); tokenizer_->kind() == "characters") {
    if (piece == " ") return "␣";
    if (piece == "\n") return "↵";
  }
  if (tokenizer_->kind() != "byte-level BPE" || tokenizer_->is_special(id))
    return one_line(tokenizer_->vocabulary().piece(id));
  std::string marked;
  for (const char c : tokenizer_->decode(std::span(&id, 1), SpecialTokens::add))
    marked += c == ' ' ? "·" : std::string(1, c);
  return one_line(marked);
}

}  // namespace headwise
