// From a product q·k to masked_scores, cell by cell: scale, softcap and every mask as core/attention/attention_mask.h
// merges them. Nothing of the size L × S is made here; a given attn_mask is read as bits or as what it adds. What compiles this sets
// SOFTCAP where there may be one.

uniform float score_scale;    // with the temperature
uniform float softcap;        // 0: none
uniform uint given_keys;      // S: columns from here on are appended and never blocked
uniform int position_offset;  // key i + offset stands at the place of query i
uniform bool causal;
uniform int behind;  // keys from query + offset − behind to query + offset + ahead are seen
uniform int ahead;
uniform bool fills;  // a blocked cell becomes fill_value, whatever its score is
uniform float fill_value;

layout(std430, binding = 5) restrict readonly buffer AttnMask { uint attn_mask[]; };  // bits (1 blocks), or floats
layout(std430, binding = 6) restrict readonly buffer MaskData { uint mask_data[]; };  // bits; places in it: the next uniforms

uniform uint attn_mask_kind;    // 0: none, 1: bits, 2: floats
uniform uvec4 attn_mask_step;   // of n, h, query, key, in cells
uniform uint attn_mask_base;    // taken off a cell's place, modulo 2³²: a part of the mask is bound, of fewer cells than that
uniform uint attn_mask_keys;    // columns it speaks of; the rest, up to S, is blocked
uniform int padding_at;         // (N,S), what is added; −1: none, as in the next two
uniform int valid_lens_at;      // integers; as floats, which they look like, a GPU might make 0 of them
uniform uvec2 valid_lens_step;  // of n and query
uniform int slopes_at;          // of ALiBi, a head each
uniform int relative_at;        // a head each: what keys −reach … reach places after the query get; those further away, the same as there
uniform int relative_reach;

#define INFINITY uintBitsToFloat(0x7F800000u)
#define NOT_A_NUMBER uintBitsToFloat(0x7FC00000u)

// By their bits: what compilers make of isnan and of comparisons with NaN differs from driver to driver.
bool is_nan(float x) { return (floatBitsToUint(x) & 0x7FFFFFFFu) > 0x7F800000u; }
bool is_infinity(float x) { return floatBitsToUint(x) == 0x7F800000u; }
bool is_minus_infinity(float x) { return floatBitsToUint(x) == 0xFF800000u; }

// What the masks of a query's scores have in common, so that it is looked up once a row.
struct MaskRow {
  int position;   // that of the key which stands at the place of the query
  int valid;      // keys from here on are blocked
  float slope;    // of ALiBi
  int relative;   // the place of the bias of its own position
  uint attn_mask; // the cell of its key 0
  uint padding;   // the place of its key 0 in mask_data
};

MaskRow mask_row(uint n, uint h, uint query) {
  MaskRow row;
  row.position = int(query) + position_offset;
  row.valid = 0x7FFFFFFF;
  if (valid_lens_at >= 0)
    row.valid = int(mask_data[uint(valid_lens_at) + n * valid_lens_step.x + query * valid_lens_step.y]);
  row.slope = slopes_at >= 0 ? uintBitsToFloat(mask_data[uint(slopes_at) + h]) : 0.0;
  row.relative = relative_at + int(h) * (2 * relative_reach + 1) + relative_reach;
  row.attn_mask = n * attn_mask_step.x + h * attn_mask_step.y + query * attn_mask_step.z - attn_mask_base;
  row.padding = uint(padding_at) + n * given_keys;
  return row;
}

float mask_bias(MaskRow row, uint key) {
  if (key >= given_keys) return 0.0;
  int distance = row.position - int(key);  // how far back the key lies
  bool blocked = distance > behind || -distance > ahead || int(key) >= row.valid;
  float sum = 0.0;
  if (attn_mask_kind != 0u) {
    uint cell = row.attn_mask + key * attn_mask_step.w;
    if (key >= attn_mask_keys) {
      blocked = true;
    } else {
      uint number = attn_mask[attn_mask_kind == 2u ? cell : cell >> 5];
      if (attn_mask_kind == 2u) sum = uintBitsToFloat(number);
      else blocked = blocked || (number >> (cell & 31u) & 1u) != 0u;
    }
  }
  if (padding_at >= 0) sum += uintBitsToFloat(mask_data[row.padding + key]);
  if (slopes_at >= 0) sum -= row.slope * float(abs(distance));
  if (relative_at >= 0) sum += uintBitsToFloat(mask_data[uint(row.relative + clamp(-distance, -relative_reach, relative_reach))]);
  return blocked ? sum - INFINITY : sum;
}

float masked_score(float product, MaskRow row, uint key) {
  float score = product * score_scale;
#ifdef SOFTCAP
  // A tanh by exponentials overflows beyond what its value shows.
  if (softcap > 0.0 && !is_nan(score)) score = softcap * tanh(clamp(score / softcap, -16.0, 16.0));
#endif
  float bias = mask_bias(row, key);
  if (fills && is_minus_infinity(bias)) return fill_value;
  return score + bias;
}
