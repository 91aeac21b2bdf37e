// Sizes as the library writes them, "2*n+1" or "(h+1)//2", as functions of the inputs of a run: so outputs have memory before it.
//
//     sum     = product { ("+" | "-") product }
//     product = unit { ("*" | "//") unit }
//     unit    = ["-"] unit | number | name | '"' name '"' | ("min" | "max") "(" sum "," sum ")" | "(" sum ")"

class Unknown extends Error {}

/** `symbol(name)` gives the function of a symbol, or undefined. */
class Parser {
  constructor(text, symbol) {
    this.tokens = text.match(/\/\/|\d+|[A-Za-z_][\w.]*|"[^"]*"|\S/g) ?? [];
    this.at = 0;
    this.symbol = symbol;
  }

  take(...wanted) {
    return wanted.includes(this.tokens[this.at]) ? this.tokens[this.at++] : undefined;
  }

  expect(token) {
    if (!this.take(token)) throw new Unknown();
  }

  sum() {
    let left = this.product();
    for (let sign; (sign = this.take("+", "-"));) {
      const first = left,
        second = this.product();
      left = sign === "+" ? (values) => first(values) + second(values) : (values) => first(values) - second(values);
    }
    return left;
  }

  product() {
    let left = this.unit();
    for (let sign; (sign = this.take("*", "//"));) {
      const first = left,
        second = this.unit();
      left = sign === "*" ? (values) => first(values) * second(values) : (values) => Math.floor(first(values) / second(values));
    }
    return left;
  }

  unit() {
    if (this.take("-")) {
      const inner = this.unit();
      return (values) => -inner(values);
    }
    if (this.take("(")) {
      const inner = this.sum();
      this.expect(")");
      return inner;
    }
    const token = this.tokens[this.at++] ?? "";
    if (/^\d/.test(token)) return () => Number(token);
    if (["min", "max"].includes(token) && this.take("(")) return this.extreme(Math[token]);
    const found = this.symbol(token.replace(/^"(.*)"$/, "$1"));
    if (!found) throw new Unknown();
    return found;
  }

  extreme(pick) {
    const first = this.sum();
    this.expect(",");
    const second = this.sum();
    this.expect(")");
    return (values) => pick(first(values), second(values));
  }
}

/** The text as a function of the values of inputs; null: it has a symbol that only the run knows. */
export function sizeFunction(text, symbol) {
  const parser = new Parser(text, symbol);
  try {
    const size = parser.sum();
    return parser.at === parser.tokens.length ? size : null;
  } catch (error) {
    if (error instanceof Unknown) return null;
    throw error;
  }
}
