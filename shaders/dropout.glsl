// The factor of core/attention/softmax.h for one cell, from the same random numbers: Philox4x32-10 (Salmon et al., SC 2011),
// keyed by the seed and the name "dropout", counted by the flat cell in (N,H,L,S′).

uniform uvec2 dropout_seed;      // low, high word; so the next two
uniform uvec2 dropout_stream;
uniform uvec2 dropout_below;     // a cell is dropped where its 53 bits are below this number
uniform float dropout_survivor;  // 1/(1−p)

float dropout_factor(uint row, uint columns, uint column) {
  uint low, high;
  umulExtended(row, columns, high, low);
  uint carry;
  low = uaddCarry(low, column, carry);
  high += carry;
  uvec4 counter = uvec4(low, high, dropout_stream);
  uvec2 key = dropout_seed;
  for (int round = 0; round < 10; ++round) {
    uint high0, low0, high1, low1;
    umulExtended(0xD2511F53u, counter.x, high0, low0);
    umulExtended(0xCD9E8D57u, counter.z, high1, low1);
    counter = uvec4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
    key += uvec2(0x9E3779B9u, 0xBB67AE85u);
  }
  uvec2 bits = uvec2(counter.x >> 11 | counter.y << 21, counter.y >> 11);
  bool dropped = bits.y < dropout_below.y || (bits.y == dropout_below.y && bits.x < dropout_below.x);
  return dropped ? 0.0 : dropout_survivor;
}
