// Numbers from seeds, the same on every machine.

export function uniform(seed) { // xorshift128; 0 <= x < 1
  let a = Math.imul(seed, 0x9e3779b1) | 1, b = (seed ^ 0x7f4a7c15) | 1, c = 0x1b873593 ^ seed, d = 0x85ebca6b;
  const next = () => {
    let t = d;
    const s = a;
    d = c; c = b; b = s;
    t ^= t << 11; t ^= t >>> 8;
    a = (t ^ s ^ (s >>> 19)) | 0;
    return (a >>> 0) / 4294967296;
  };
  for (let i = 0; i < 64; i++) next();
  return next;
}

// Fills with numbers of that mean and deviation: the sum of four uniform ones is near enough to normal.
export function normal(values, seed, mean, std) {
  const next = uniform(seed), scale = std * Math.sqrt(3);
  for (let i = 0; i < values.length; i++)
    values[i] = std === 0 ? mean : mean + scale * (next() + next() + next() + next() - 2);
  return values;
}
