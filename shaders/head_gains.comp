// concat, or gated_concat: head_output, the heads of a token side by side, times each head's gain, and times
// σ(gate) where there is a gate. A thread makes one number.
layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly buffer HeadOutput { float head_output[]; };  // (N,L,H·Dv)
layout(std430, binding = 1) readonly buffer Gains { float gains[]; };             // (H)
layout(std430, binding = 2) readonly buffer Gate { float gate[]; };               // (N,L,H·Dv) or (N,L,H)
layout(std430, binding = 3) writeonly buffer Concat { float concat[]; };          // (N,L,H·Dv)

uniform uint count;               // numbers of this binding, whole tokens
uniform uint head_output_offset;  // of the first token
uniform uint gains_offset;
uniform uint concat_offset;
uniform uint gate_offset;
uniform uint columns;  // that one number of the gate multiplies; 0: there is no gate
uniform uint heads;
uniform uint v_head_dim;   // Dv
uniform uint first_block;  // of 256 numbers, in this slice

void main() {
  uint i = (first_block + gl_WorkGroupID.x) * 256u + gl_LocalInvocationID.x;
  if (i >= count) return;
  float open = columns == 0u ? 1.0 : 1.0 / (1.0 + exp(-gate[gate_offset + i / columns]));
  concat[concat_offset + i] = gains[gains_offset + i / v_head_dim % heads] * head_output[head_output_offset + i] * open;
}
