// The addon, for this system.
"use strict";
const path = `../prebuilt/${process.platform}-${process.arch}.node`;
try {
  module.exports = { native: require(path) };
} catch (error) {
  error.message = `hologram has no addon for ${process.platform} ${process.arch}, or it cannot be loaded: ${error.message}`;
  throw error;
}
