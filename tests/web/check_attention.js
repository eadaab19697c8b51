// Whether the page's operator computes what the program does: checkAttention(cases) gives the largest difference of each tensor, relative
// to its largest number, and the first failure. Infinities and NaN have to be the same.
const checkAttention = (cases) => {
  "use strict";
  const kinds = { f32: Float32Array, f64: Float64Array, bool: Uint8Array, i64: BigInt64Array };
  const decoded = ({ shape, type, data }) => {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    return { shape, data: Float64Array.from(new kinds[type](bytes.buffer), Number), isBool: type === "bool" };
  };
  const largest = {};
  const failures = [];
  // In a file they are (N·G,S,D), as PyTorch has them.
  const asInTrace = (name, x, { N, G }) => (name.startsWith("static_") && x.shape.length === 3 ? { ...x, shape: [N, G, ...x.shape.slice(1)] } : x);
  cases.forEach((each, at) => {
    const leaves = Object.fromEntries(Object.entries(each.tensors).map(([name, tensor]) => [name, asInTrace(name, decoded(tensor), each.sizes)]));
    const { tensors } = Attention.compute(each.settings, each.sizes, leaves);
    const computed = Object.keys(tensors).filter((name) => !Object.hasOwn(leaves, name) && tensors[name]);
    const wanted = Object.keys(each.expected);
    const uneven = [...computed.filter((name) => !wanted.includes(name)), ...wanted.filter((name) => !computed.includes(name))];
    if (uneven.length > 0) failures.push(`case ${at}: ${uneven.join(", ")} only on one side`);
    for (const name of wanted.filter((tensor) => computed.includes(tensor))) {
      const theirs = decoded(each.expected[name]);
      const ours = tensors[name];
      if (String(ours.shape) !== String(theirs.shape)) {
        failures.push(`case ${at}: ${name} is (${ours.shape}), not (${theirs.shape})`);
        continue;
      }
      let unit = 0;
      for (const value of theirs.data) if (Math.abs(value) > unit && Math.abs(value) < Infinity) unit = Math.abs(value);
      theirs.data.forEach((value, i) => {
        const same = Object.is(value, ours.data[i]) || value === ours.data[i];
        const off = same ? 0 : Math.abs(value - ours.data[i]) / Math.max(unit, Number.MIN_VALUE);
        if (!(off <= (largest[name] || 0))) largest[name] = off;
        if (!(off <= 1e-12)) failures.push(`case ${at}: ${name}[${i}] is ${ours.data[i]}, not ${value}`);
      });
    }
  });
  return { largest, failures: failures.slice(0, 20), count: failures.length };
};
