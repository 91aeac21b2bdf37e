# Rust: the crate `hologram`. CARGO is that of Debian where it is installed, else whichever there is.
CARGO            ?= $(firstword $(wildcard /usr/bin/cargo) cargo)
BINDING_TESTS    += rust-test
BINDING_PACKAGES += cargo rustc

.PHONY: rust rust-test
## make rust          build the Rust crate: build/rust/release/libhologram.rlib
rust: $(SO) $(SO_COMP)
	@HOLOGRAM_INCLUDE_DIR=$(abspath include) HOLOGRAM_LIB_DIR=$(abspath $(BUILD)) CARGO_TARGET_DIR=$(abspath $(BUILD)/rust) \
	    $(CARGO) build --offline --release --manifest-path bindings/rust/Cargo.toml

## make rust-test     the Rust crate: its tests, a part of ONNX's suite, its example, and the code of docs/rust.md
rust-test: $(SO) $(SO_COMP)
	@BUILD=$(BUILD) CARGO="$(CARGO)" sh bindings/rust/test.sh
