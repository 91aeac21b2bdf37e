# The part of the package hologram for browsers: the runtime and the compiler as WebAssembly, and the face in JavaScript.
#
# All modules are linked from the same objects. A module is one of
#   core       what a float network needs first: kernels of class fused, the operators of src/ops/standard and src/ops/hologram
#   full       all kernels and operators, and text
#   compiler   the same with the compiler
# for a level of src/kernels/LEVELS, with memory of its own (one thread) or with shared memory (-threads). With 64-bit memory, for models that 32 bits
# cannot address, there is one kind: full64.

WASM_PACKAGES := clang-19 lld-19 libclang-rt-19-dev-wasm32 wasi-libc
WEB_PACKAGES  := esbuild
WASM_CC       ?= clang-19
WASM_LD       ?= wasm-ld-19
WASM_FOLDER   := $(BUILD)/wasm
WASM64_FOLDER := $(BUILD)/wasm64
# Of clang for WebAssembly: what every engine of the last years has. Debian's libc is built without atomics, so that the linker must not
# compare what objects use.
WASM_COMMON_FLAGS := -msimd128 -matomics -mbulk-memory -mmutable-globals -ftls-model=local-exec
WASM_FLAGS        := --target=wasm32-wasi $(WASM_COMMON_FLAGS)
WASM64_FLAGS      := --target=wasm64-wasi -nostdlibinc -idirafter /usr/include/wasm32-wasi $(WASM_COMMON_FLAGS)

.PHONY: wasm wasm-modules web-package web-files wasm-test web-test web

ifneq ($(filter wasm%,$(MACHINE)),)

# There are no GPUs of CUDA here.
$(BUILD)/targets_registry.c $(BUILD)/devices_registry.c: export WITHOUT := cuda

# Downloads are small before loops are fast, where these are not of kernels.
$(call named,tensor binary reduce): CFLAGS += -Os

$(BUILD)/obj/relaxed/cpu.o: CFLAGS += -DHOLO_RELAXED -mrelaxed-simd
$(BUILD)/obj/core_simd128/cpu.o: CFLAGS += -DHOLO_FUSED_ALONE
$(BUILD)/obj/core_relaxed/cpu.o: CFLAGS += -DHOLO_FUSED_ALONE -DHOLO_RELAXED -mrelaxed-simd
$(BUILD)/obj/compiler/cpu.o: CFLAGS += -DHOLO_EXACT_ALONE
$(BUILD)/obj/relaxed/cpu.o $(BUILD)/obj/core_simd128/cpu.o $(BUILD)/obj/core_relaxed/cpu.o $(BUILD)/obj/compiler/cpu.o: src/kernels/cpu.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(CFLAGS) -MMD -MP -c $< -o $@
$(BUILD)/core/ops_registry.c: tools/ops_registry.sh $(filter src/ops/%,$(RUNTIME_SRC))
	@mkdir -p $(@D)
	$(Q)sh tools/ops_registry.sh src/ops/standard src/ops/hologram > $@
$(BUILD)/obj/core/ops_registry.o $(BUILD)/obj/none.o: $(BUILD)/obj/%.o: $(BUILD)/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(CFLAGS) -c $< -o $@
$(BUILD)/none.c: tools/stdlib.sh
	@mkdir -p $(@D)
	$(Q)sh tools/stdlib.sh > $@

# Without shared memory thread-locals are plain variables: these have some. (The linker would take their addresses for offsets.)
WASM_LOCALS := base/memory base/os/os_wasm_threads
$(WASM_LOCALS:%=$(BUILD)/obj/alone/%.o): $(BUILD)/obj/alone/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(filter-out -pthread,$(CFLAGS)) -mno-atomics -MMD -MP -c $< -o $@
alone = $(filter-out $(WASM_LOCALS:%=$(BUILD)/obj/src/%.o),$(1)) $(WASM_LOCALS:%=$(BUILD)/obj/alone/%.o)

web_objects   = $(call obj,$(patsubst %,bindings/web/src/%.c,$(1)))
WEB_SHARED    := $(call obj,$(wildcard bindings/shared/*.c)) $(BUILD)/obj/bindings/shared/fields_made.o
$(BUILD)/obj/bindings/shared/fields_made.c: bindings/shared/make_fields.py tools/bindings.py include/hologram.json
	@mkdir -p $(@D)
	$(Q)python3 $< camel $@
$(BUILD)/obj/bindings/shared/fields_made.o: $(BUILD)/obj/bindings/shared/fields_made.c bindings/shared/fields.h
	$(Q)$(CC) -std=c11 $(CFLAGS) -MMD -MP -c $< -o $@
$(WEB_SHARED) $(BUILD)/obj/bindings/web/%: CFLAGS += -Ibindings/shared
WASM_CORE     := web web_json web_describe
$(call web_objects,$(WASM_CORE)): CFLAGS += -Os
WASM_COMMON   := $(filter-out $(BUILD)/obj/level_% %/cpu.o %/ops_registry.o,$(RUNTIME_OBJ)) $(call web_objects,$(WASM_CORE))
level_objects = $(BUILD)/obj/level_$(1)_0.o $(BUILD)/obj/level_$(1)_1.o $(BUILD)/obj/level_shared_$(1).o $(BUILD)/obj/level_tiles_$(1).o
WASM_core_simd128 := $(WASM_COMMON) $(BUILD)/obj/none.o $(BUILD)/obj/core/ops_registry.o $(call level_objects,simd128) $(BUILD)/obj/core_simd128/cpu.o
WASM_core_relaxed := $(WASM_COMMON) $(BUILD)/obj/none.o $(BUILD)/obj/core/ops_registry.o $(call level_objects,relaxed) $(BUILD)/obj/core_relaxed/cpu.o

# Everything: both classes, all operators, text.
$(call web_objects,web_text web_batch web_speech web_picture web_compile) $(WEB_SHARED): CFLAGS += -Os
TEXT_OBJ          := $(filter $(patsubst %,$(BUILD)/obj/src/%,text/% sound/% imagine/%) $(BUILD)/obj/unicode_tables.o,$(COMPILER_OBJ)) \
                     $(call web_objects,web_text web_batch web_speech web_picture) $(WEB_SHARED)
WASM_full_simd128 := $(WASM_COMMON) $(STDLIB_OBJ) $(TEXT_OBJ) $(BUILD)/obj/ops_registry.o $(call level_objects,simd128) $(BUILD)/obj/src/kernels/cpu.o
WASM_full_relaxed := $(WASM_COMMON) $(STDLIB_OBJ) $(TEXT_OBJ) $(BUILD)/obj/ops_registry.o $(call level_objects,relaxed) $(BUILD)/obj/relaxed/cpu.o

WASM_full64_simd128 := $(WASM_full_simd128)
WASM_full64_relaxed := $(WASM_full_relaxed)

# The compiler is to be small above all: what computes in it, kernels and operators, is the runtime's.
$(filter-out $(TEXT_OBJ),$(COMPILER_OBJ)): CFLAGS += -Oz

# The compiler reads JSON by Jansson and unpacks by zlib, which Debian has as sources: tools/sources.sh fetches them.
$(BUILD)/others/whole: tools/wasm_libraries.sh tools/sources.sh
	@CC="$(CC)" sh tools/wasm_libraries.sh $(BUILD)
# Graphs are drawn by the files of the command that draws them.
WASM_DRAWING := $(call web_objects,web_graph) $(call obj,$(patsubst %,cli/%.c,draw_svg layout memory picture))
$(WASM_DRAWING): CFLAGS += -Icli -Oz
# It compiles and draws, and that is all that is called of it: what writes texts, hears and makes pictures stays outside. It folds
# and verifies by the kernels of class exact, which serve both classes.
WASM_compiler_simd128 := $(filter-out $(call web_objects,web_text web_batch web_speech web_picture) $(BUILD)/obj/level_simd128_0.o %/cpu.o,$(WASM_full_simd128)) \
                         $(BUILD)/obj/compiler/cpu.o $(COMPILER_OBJ) $(call web_objects,web_compile) $(WASM_DRAWING)
ifeq ($(MACHINE),wasm32)
$(COMPILER_OBJ) $(call web_objects,web_compile) $(BUILD)/hologram-compiler-simd128.wasm: $(BUILD)/others/whole
endif
$(BUILD)/libc64.a: tools/wasm_libc.sh tools/sources.sh
	@CC="$(CC)" sh tools/wasm_libc.sh $(BUILD)

WASM_LIBS_wasm32 := -L/usr/lib/wasm32-wasi -lc -lm $(firstword $(wildcard /usr/lib/llvm-*/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a))
WASM_LIBS_wasm64 := $(BUILD)/libc64.a
WASM_LIBS        := $(WASM_LIBS_$(MACHINE))
WASM_LINK := $(if $(filter wasm64,$(MACHINE)),-mwasm64) --no-entry --gc-sections $(if $(filter -g0,$(DEBUG)),--strip-all) -O2 -z stack-size=1048576 --no-check-features --export=__stack_pointer --export=__wasm_call_ctors \
             $(addprefix --wrap=,malloc realloc calloc free aligned_alloc)
# The most that 32 bits address, and the most that engines give to 64. Shared memory needs the number in advance.
WASM_MOST   := $(if $(filter wasm64,$(MACHINE)),17179869184,4294901760)
WASM_SHARED := --initial-memory=16777216 --shared-memory --import-memory --max-memory=$(WASM_MOST) --export=__wasm_init_tls --export=__tls_size --export=__tls_align --export=__heap_base

# link NAME LEVEL: two modules of the same objects
define wasm_module
$(BUILD)/hologram-$(1)-$(2).wasm: $$(call alone,$$(WASM_$(1)_$(2)))
	@echo "  wasm  $$@"
	$$(Q)$$(WASM_LD) $$(WASM_LINK) $$(filter %.o,$$^) $$(WASM_LIBS) -o $$@
$(BUILD)/hologram-$(1)-$(2)-threads.wasm: $$(WASM_$(1)_$(2))
	@echo "  wasm  $$@"
	$$(Q)$$(WASM_LD) $$(WASM_LINK) $$(WASM_SHARED) $$(filter %.o,$$^) $$(WASM_LIBS) -o $$@
wasm-modules: $(BUILD)/hologram-$(1)-$(2).wasm $(BUILD)/hologram-$(1)-$(2)-threads.wasm
endef
WASM_KINDS_wasm32 := core full
WASM_KINDS_wasm64 := full64
$(foreach level,simd128 relaxed,$(foreach name,$(WASM_KINDS_$(MACHINE)),$(eval $(call wasm_module,$(name),$(level)))))
ifeq ($(MACHINE),wasm32)
$(BUILD)/hologram-compiler-simd128.wasm: $(call alone,$(sort $(WASM_compiler_simd128)))
	@echo "  wasm  $@"
	$(Q)$(WASM_LD) $(WASM_LINK) $(filter %.o,$^) $(BUILD)/others/*/*.o $(WASM_LIBS) -o $@
wasm-modules: $(BUILD)/hologram-compiler-simd128.wasm
endif

else

# Headers: that of xxHash, and errno as Debian's libc has it, for one thread.
$(WASM_FOLDER)/root/usr/include/__errno.h $(WASM64_FOLDER)/root/usr/include/__errno.h: bindings/web/rules.mk
	@mkdir -p $(@D)
	$(Q)cp /usr/include/xxhash.h $(@D)/
	$(Q)printf '\043pragma once\nextern int errno;\n\043define errno errno\n' > $@

## make wasm          install what is missing, and build the runtime and the compiler as WebAssembly, in build/wasm
CCACHE := $(filter ccache,$(CC))
wasm: deps
	@sh tools/deps.sh $(WASM_PACKAGES)
	@$(MAKE) --no-print-directory $(JOBS) $(WASM_FOLDER)/root/usr/include/__errno.h $(WASM64_FOLDER)/root/usr/include/__errno.h $(STDLIB)
	@$(MAKE) --no-print-directory $(JOBS) BUILD=$(WASM_FOLDER) ROOT=$(WASM_FOLDER)/root CC="$(CCACHE) $(WASM_CC) $(WASM_FLAGS)" OPT=-Os DEBUG=-g0 wasm-modules
	@for target in $(WASM64_FOLDER)/libc64.a wasm-modules; do $(MAKE) --no-print-directory $(JOBS) BUILD=$(WASM64_FOLDER) ROOT=$(WASM64_FOLDER)/root \
	    CC="$(CCACHE) $(WASM_CC) $(WASM64_FLAGS)" OPT=-Os DEBUG=-g0 $$target || exit 1; done

# The part for browsers of the package, NODE_FOLDER/web: all JavaScript of index.mjs, onnxruntime.mjs and the two kinds of workers, made
# small, beside the modules. index.mjs is one file: what it takes to begin comes in one answer.
WEB_FOLDER := $(NODE_FOLDER)/web
WEB_JS     := $(wildcard bindings/web/js/*.mjs) $(filter-out %/face.mjs %/kernels.mjs %/compile.mjs,$(wildcard bindings/node/face/*.mjs)) $(NODE_MADE)/enums.mjs $(NODE_MADE)/options.mjs
$(WEB_FOLDER)/index.mjs: $(WEB_JS) bindings/web/size.py bindings/web/wide.py bindings/web/merge.py bindings/web/rules.mk bindings/web/types/index.d.ts $(wildcard $(WASM_FOLDER)/hologram-*.wasm $(WASM64_FOLDER)/hologram-*.wasm)
	@rm -rf $(WEB_FOLDER) $(BUILD)/web-new $(BUILD)/web-sources && mkdir -p $(NODE_FOLDER) $(BUILD)/web-new $(BUILD)/web-sources
	$(Q)cp $(WEB_JS) $(BUILD)/web-sources/
	$(Q)sed -i 's/"VERSION"/"$(VERSION)"/' $(BUILD)/web-sources/onnxruntime.mjs
	$(Q)python3 bindings/web/wide.py $(WASM64_FOLDER)/hologram-full64-simd128.wasm $(BUILD)/web-sources/wide.mjs
	$(Q)cd $(BUILD)/web-sources && esbuild --bundle --minify --format=esm --splitting --log-level=warning --out-extension:.js=.mjs --outdir=../web-new \
	    index.mjs worker.mjs onnxruntime.mjs compiling.mjs
	$(Q)cd $(BUILD)/web-sources && esbuild --bundle --minify --format=esm --log-level=warning --outfile=../web-new/thread.mjs thread.mjs
	$(Q)python3 bindings/web/merge.py $(BUILD)/web-new
	$(Q)cp $(WASM_FOLDER)/hologram-*.wasm $(WASM64_FOLDER)/hologram-*.wasm $(BUILD)/web-new/
	$(Q)sed 's|"\./face\.js"|"../index.mjs"|' bindings/web/types/index.d.ts > $(BUILD)/web-new/index.d.mts
	$(Q)python3 bindings/web/size.py $(BUILD)/web-new
	$(Q)mv $(BUILD)/web-new $(WEB_FOLDER)

## make web-package   the part for browsers of the npm package hologram, in build/node/web; make npm packs it
web-package: wasm
	@sh tools/deps.sh $(WEB_PACKAGES) python3
	@$(MAKE) --no-print-directory $(WEB_FOLDER)/index.mjs

## make wasm-test     the package in Node: its own tests, and ONNX's suite in WebAssembly beside native
wasm-test: web-package node-files
	@HOLOGRAM_WEB=$(abspath $(WEB_FOLDER)) HOLOGRAM_NODE=$(abspath $(NODE_FOLDER)) ONNX="$(wildcard $(ONNX_DEBIAN)/node) $(ONNX_NEWER)" sh tests/web/run.sh $(NODE)

## make wasm-exact    class exact: models of the corpus give native's bits in WebAssembly; MODELS="resnet50": only these
.PHONY: wasm-exact
wasm-exact: web-package node-files
	@HOLOGRAM_WEB=$(abspath $(WEB_FOLDER)) HOLOGRAM_NODE=$(abspath $(NODE_FOLDER)) $(NODE) --experimental-wasm-relaxed-simd tests/web/exact.mjs $(or $(HOLO_CORPUS),$(BUILD)/bench/corpus) $(MODELS)

# The pages: one folder, that any host can serve. Peers come by npm, where that is here.
SITE       := $(BUILD)/site
WEB_MODELS := $(BUILD)/web-models
WEB_PEERS  := $(BUILD)/web-peers
PEERS      ?= onnxruntime-web@1.30
$(SITE)/index.html: $(wildcard web/*) $(WEB_FOLDER)/index.mjs demo/digits.onnx $(wildcard demo/imagine/model/*/* $(WEB_MODELS)/models.json) $(HOLOGRAM)
	@rm -rf $(SITE) && mkdir -p $(SITE)
	$(Q)cp web/*.html $(filter-out web/models.mjs,$(wildcard web/*.mjs)) web/*.css demo/digits.onnx $(SITE)/
	$(Q)mkdir $(SITE)/hologram && cp $(WEB_FOLDER)/*.mjs $(WEB_FOLDER)/*.wasm $(SITE)/hologram/
	$(Q)echo '[]' > $(SITE)/models.json
	$(Q)if [ -f $(WEB_MODELS)/models.json ]; then cp $(WEB_MODELS)/* $(SITE)/; fi
	$(Q)$(HOLOGRAM) compile -q demo/digits.onnx -o $(SITE)/digits.holo
	$(Q)$(HOLOGRAM) compile -q --size small demo/imagine/model -o $(SITE)/emoji.holo
	$(Q)if [ -d $(WEB_PEERS)/node_modules/onnxruntime-web ]; then mkdir -p $(SITE)/onnxruntime-web && \
	    cp $(WEB_PEERS)/node_modules/onnxruntime-web/dist/ort.wasm.min.mjs $(WEB_PEERS)/node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.* $(SITE)/onnxruntime-web/; fi

# Peers, for the page that compares, and what drives Chromium.
.PHONY: web-peers web-driver web-site bench-web
web-peers:
	@if command -v npm > /dev/null && [ ! -d $(WEB_PEERS)/node_modules/onnxruntime-web ]; then echo "  npm   $(PEERS)"; \
	    npm install --silent --no-audit --no-fund --prefix $(WEB_PEERS) $(PEERS) || echo "npm could not fetch onnxruntime-web: the page that compares goes without"; fi
web-driver:
	@sh tools/deps.sh chromium
	@command -v npm > /dev/null || sh tools/deps.sh npm
	@[ -d $(WEB_PEERS)/node_modules/playwright-core ] || npm install --silent --no-audit --no-fund --prefix $(WEB_PEERS) playwright-core $(PEERS)

## make web-site      build the demo pages in build/site, a folder that any host can serve
web-site: web-package web-peers
	@$(MAKE) --no-print-directory $(SITE)/index.html

## make web-models    fetch trained models for the pages by npm, about 50 MB; MODELS="yolo11n whisper-tiny tinyllama" (or all): these
.PHONY: web-models
web-models: $(HOLOGRAM)
	@$(NODE) web/models.mjs $(HOLOGRAM) $(WEB_MODELS) $(or $(MODELS),yolo11n whisper-tiny)

## make web           the same, and serve them: prints the address; PORT=8080
web: web-site
	@[ -f $(WEB_MODELS)/models.json ] || { echo "Images, chat and speech need models: make web-models fetches trained ones by npm:"; $(NODE) web/models.mjs $(HOLOGRAM) $(WEB_MODELS); }
	@python3 web/serve.py $(SITE) $(or $(PORT),0)

## make web-test      install Chromium and playwright-core, and use every page as a person would
web-test: web-package web-driver
	@$(MAKE) --no-print-directory $(SITE)/index.html
	@for part in pages browser; do PLAYWRIGHT=$(abspath $(WEB_PEERS)/node_modules/playwright-core) HOLOGRAM=$(abspath $(HOLOGRAM)) \
	    $(NODE) tests/web/$$part.mjs $(SITE) $(BUILD)/screenshots || exit 1; done

## make bench-web     Hologram beside onnxruntime-web in Chromium; MODELS="minilm" THREADS="1 2": only these; SIZE=small
bench-web: web-site web-driver
	@PLAYWRIGHT=$(abspath $(WEB_PEERS)/node_modules/playwright-core) WORK=$(BUILD)/bench $(NODE) bench/web.mjs $(HOLOGRAM) $(SITE) $(MODELS)

# Part of "make test": where the package has been built, and for the pages where Chromium and playwright-core are there.
.PHONY: web-there
web-there:
	@if [ -f $(WEB_FOLDER)/index.mjs ]; then $(MAKE) --no-print-directory wasm-test; else \
	    echo "web: not run, since the package for browsers is not built: make wasm-test"; fi
	@if [ -f $(WEB_FOLDER)/index.mjs ] && command -v chromium > /dev/null && [ -d $(WEB_PEERS)/node_modules/playwright-core ]; then \
	    $(MAKE) --no-print-directory web-test; else echo "web: the pages were not tested in Chromium: make web-test"; fi
BINDING_TESTS += web-there

endif
