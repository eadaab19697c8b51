// A tile of attn_weights of one head, made again from q, k and the row statistics that
// scaled_dot_product_attention.comp keeps: exp(masked_score − largest) / Σexp. A thread makes one cell; what compiles this sets
// nothing.
layout(local_size_x = 16, local_size_y = 16) in;

layout(std430, binding = 0) readonly buffer Q { float q[]; };
layout(std430, binding = 1) readonly buffer K { float k[]; };
layout(std430, binding = 3) writeonly buffer Tile { float tile[]; };
layout(std430, binding = 4) readonly buffer Statistics { vec2 statistics[]; };

uniform uint head_dim;  // D
uniform uint batch;     // n
uniform uint head;      // h
uniform uint q_offset;  // of query 0 of this head
uniform uint k_offset;  // of key 0 of its key/value head
uniform uint statistics_offset;  // of query 0 of this head
uniform uvec2 first;  // query and key of the tile's first cell
uniform uvec2 size;   // rows and columns of the tile
uniform uint tile_offset;
uniform uint tile_stride;  // from a row of the tile to the next
uniform bool empty_is_zero;

void main() {
  uvec2 cell = gl_GlobalInvocationID.yx;
  if (cell.x >= size.x || cell.y >= size.y) return;
  uint query = first.x + cell.x, key = first.y + cell.y;
  float product = 0.0;
  uint a = q_offset + query * head_dim, b = k_offset + key * head_dim;
  for (uint d = 0u; d < head_dim; ++d) product += q[a + d] * k[b + d];
  float score = masked_score(product, mask_row(batch, head, query), key);
  vec2 row = statistics[statistics_offset + query];
  float weight;
  if (is_nan(row.y)) weight = NOT_A_NUMBER;
  else if (row.y == 0.0) weight = empty_is_zero ? 0.0 : NOT_A_NUMBER;
  else weight = is_minus_infinity(score) ? 0.0 : exp(score - row.x) / row.y;
  tile[tile_offset + cell.x * tile_stride + cell.y] = weight;
}
