# The package hologram for browsers: the runtime and the compiler as WebAssembly, and the face in JavaScript.
WASM_FLAGS := --target=wasm32-wasi -msimd128 -matomics -mbulk-memory -mmutable-globals -ftls-model=local-exec
WASM_CC    ?= clang-19

ifeq ($(MACHINE),wasm32)
$(BUILD)/obj/relaxed/cpu.o: src/kernels/cpu.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(CFLAGS) -DHOLO_RELAXED -MMD -MP -c $< -o $@
wasm-objects: $(RUNTIME_OBJ) $(COMPILER_OBJ) $(BUILD)/obj/relaxed/cpu.o
endif
