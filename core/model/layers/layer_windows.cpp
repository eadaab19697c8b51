#include "core/model/layers/layer_reading.h"

#include <fmt/format.h>

#include "core/model/files/model_json.h"

namespace headwise {

bool is_in_decoder(const std::string& name) {
  return name.starts_with("decoder") || name.find(".decoder") != std::string::npos;
}

bool sees_both_ways(const LayerReading& read) {
  return read.reads(reads::both_ways_switch) && read.settings.flag("use_bidirectional_attention", false);
}

bool has_no_positions(const LayerReading& read) {
  const Json& rotated = read.of_layer("no_rope_layers");
  const Index interval = read.settings.whole("no_rope_layer_interval", 4, most_window);
  return rotated.is_null() ? interval > 0 && (read.layer.number + 1) % interval == 0
                           : (rotated.is_number() && rotated.get<double>() == 0.0) ||
                                 (rotated.is_boolean() && !rotated.get<bool>());
}

bool has_window(const LayerReading& read) {
  const Json& kind = read.of_layer("layer_types");
  const std::string word = kind.is_string() ? kind.get<std::string>() : "";
  if (word == "sliding_attention") return true;
  if (word == "full_attention") return false;
  if (!kind.is_null()) {
    read.warn(fmt::format("config.json: layer_types[{}] = {} is not computed", read.layer.number,
                          json_as_written(kind, 40)));
    return false;
  }
  const ModelType& type = read.type;
  if (type.windows_are_listed) {
    read.warn(
        fmt::format("config.json: without layer_types it is not known which layers have a window: here "
                    "layer {} sees everything",
                    read.layer.number));
    return false;
  }
  const bool by_switch = read.reads(reads::window_switch);
  if (by_switch && read.reads(reads::no_rope)) return has_no_positions(read);
  const Index first =
      type.first_windowed < 0 ? 0 : read.settings.whole("max_window_layers", type.first_windowed, most_window);
  if (type.usual_window_every == 0) return read.layer.number >= first;
  const char* const key = read.settings.has("global_attn_every_n_layers") ? "global_attn_every_n_layers"
                                                                          : "sliding_window_pattern";
  const Index every = read.settings.whole(key, type.usual_window_every, most_window);
  const bool is_between = every == 0 || (read.layer.number + (type.first_sees_all ? 0 : 1)) % every != 0;
  return is_between && (!by_switch || read.layer.number < first);  // Qwen2-MoE's last layers see everything
}

namespace {

constexpr Index most_blocks = Index{1} << 16;

// GPT-Neo: "global" or "local" for each layer, explicitly or as [[["global", "local"], 12]], which repeats.
std::string kind_of_gpt_neo(const LayerReading& read) {
  const Json& written = read.of_layer("attention_layers");
  if (written.is_string()) return written.get<std::string>();
  const Json& types = read.settings.at("attention_types");
  Index first = 0;
  for (const Json& part : types.is_array() ? types : Json::array()) {
    if (!part.is_array() || part.size() != 2 || !part[0].is_array() || part[0].empty() ||
        !part[1].is_number_unsigned())
      break;
    const auto period = static_cast<Index>(part[0].size());
    const Index inner = read.layer.number - first;
    const auto times = part[1].get<std::uint64_t>();
    if (static_cast<std::uint64_t>(inner / period) < times) {
      const Json& kind = part[0][static_cast<std::size_t>(inner % period)];
      return kind.is_string() ? kind.get<std::string>() : "";
    }
    first += period * static_cast<Index>(times);
  }
  return types.is_null() ? read.layer.number % 2 == 0 ? "global" : "local" : "";
}

void read_local_window(const LayerReading& read) {
  if (!read.reads(reads::local_windows)) return;
  const std::string kind = kind_of_gpt_neo(read);
  const Index window = read.settings.whole("window_size", 256, most_window);
  if (kind == "local" && window > 0)
    read.attention.sliding_window = window;
  else if (kind != "global")
    read.warn("config.json: attention_types does not determine whether this layer has a window");
}

void read_window(const LayerReading& read) {
  if (read.reads(reads::half_windows) && has_window(read)) {
    const Index both = read.settings.whole("local_attention", 128, most_window);
    read.attention.sliding_window = both / 2 + 1;  // as many keys before a query as behind it
  }
  if (!read.reads(reads::window) || read.layer.is_cross) return;
  if (!read.settings.flag("use_sliding_window", !read.reads(reads::window_switch)) || !has_window(read))
    return;
  const bool omitted = !read.settings.contains("sliding_window");
  const Index window = read.settings.whole("sliding_window", omitted ? read.type.usual_window : 0, most_window);
  if (window > 0)  // of both sides half of it on each
    read.attention.sliding_window = sees_both_ways(read) ? window / 2 + 1 : window;
  else if (read.settings.has("sliding_window"))
    read.warn(
        "config.json: sliding_window = 0, which transformers cannot compute: here the layer has no window");
}

// BigBird uses blocks only in texts longer than the reach of a block;
// in shorter ones its models see everything.
void read_block_sparse(const LayerReading& read) {
  if (!read.reads(reads::block_sparse) || read.layer.is_cross) return;
  const bool in_decoder = read.type.sees == Sees::past_in_decoder && is_in_decoder(read.layer.name);
  if (in_decoder || read.settings.text("attention_type", "block_sparse") == "original_full") return;
  const Index block = read.settings.whole("block_size", 64, most_window),
              random = read.settings.whole("num_random_blocks", 3, most_blocks);
  read.attention.limits.push_back(
      {(5 + 2 * random) * block,
       fmt::format("config.json: attention_type = \"block_sparse\": beyond {} tokens the model sees only "
                   "some blocks, but here each token sees all",
                   (5 + 2 * random) * block)});
}

// Ministral 3 and Mistral 4 multiply the queries behind their first length by more than 1, more and more.
void read_query_growth(const LayerReading& read) {
  const Json& rope = read.settings.at("rope_parameters");
  if (!rope.is_object() || !rope.contains("llama_4_scaling_beta") || rope["llama_4_scaling_beta"].is_null())
    return;
  const Index longest =
      read.settings["rope_parameters"].whole("original_max_position_embeddings", 0, most_window);
  std::string sentence = fmt::format(
      "rope_parameters: llama_4_scaling_beta: the model multiplies queries from token {} on by a "
      "factor that is not computed",
      longest);
  if (longest > 0)
    read.attention.limits.push_back({longest, std::move(sentence)});
  else
    read.warn(std::move(sentence));
}

// Llama 4: layers that rotate see chunks of a text, and the others multiply their queries further behind by
// more than 1.
void read_chunks(const LayerReading& read) {
  if (!read.reads(reads::chunks)) return;
  const bool has_chunks =
      read.settings.has("attention_chunk_size") || !read.settings.contains("attention_chunk_size");
  const Json& kind = read.of_layer("layer_types");
  if (kind.is_string() ? kind == "chunked_attention" : read.attention.rotary && has_chunks) {
    const Index chunk = read.settings.whole("attention_chunk_size", 8192, most_window);
    read.attention.limits.push_back(
        {chunk,
         fmt::format("config.json: attention_chunk_size = {}: in a longer text the model lets each token see "
                     "only its own chunk, but here it sees all tokens before it",
                     chunk)});
  }
  const Json& tuning = read.settings.at("attn_temperature_tuning");  // a number in published files
  const bool tuned = tuning.is_null() || (tuning.is_boolean() ? tuning.get<bool>() : tuning != 0);
  if (read.attention.rotary || !tuned) return;
  const Index first = read.settings.whole("floor_scale", 8192, most_window) - 1;
  read.attention.limits.push_back(
      {first,
       fmt::format("config.json: attn_temperature_tuning: the model multiplies queries from token {} on "
                   "by a factor that is not computed",
                   first)});
}

}  // namespace

void read_windows(const LayerReading& read) {
  read_window(read);
  read_local_window(read);
  read_block_sparse(read);
}

void read_chunks_and_growth(const LayerReading& read) {
  read_chunks(read);
  read_query_growth(read);
}

}  // namespace headwise
