# The npm package hologram: an addon in C with both libraries inside, and the face in JavaScript.
#
# NODE_FOLDER is the package, as npm packs it. The addon needs nothing but libc: what the compiler links is taken in, and only what
# Node calls is visible.

NODE        ?= node
NODE_FOLDER := $(BUILD)/node
NODE_MADE   := $(BUILD)/obj/bindings/node/made
NODE_SRC    := $(wildcard bindings/node/src/*.c)
# Asks for functions of libc by their oldest versions, as the Python package does.
NODE_LIBC   := $(if $(SANITIZE),,$(call obj,bindings/python/src/old_libc.c))
NODE_OBJ    := $(call obj,$(NODE_SRC) $(wildcard bindings/shared/*.c)) $(NODE_MADE)/made.o $(NODE_MADE)/fields.o $(NODE_LIBC)
NODE_ARCH   := $(or $(patsubst x86_64,x64,$(filter x86_64,$(MACHINE))),$(patsubst aarch64,arm64,$(filter aarch64,$(MACHINE))),$(MACHINE))
NODE_ADDON  := $(NODE_FOLDER)/prebuilt/linux-$(NODE_ARCH).node
NODE_FACE   := $(wildcard bindings/node/face/*.mjs bindings/node/node/*.mjs) $(NODE_MADE)/enums.mjs $(NODE_MADE)/options.mjs
# What a package of Debian's holds as an archive is linked as such; elsewhere the shared library does. Debian's archive of Jansson is not
# made for shared objects: its function that reads a FILE asks whether that is stdin, in a way that only programs can. Nothing here
# calls it, so the symbol is any that is there.
node_static = $(if $(filter /%,$(shell $(CC) -print-file-name=lib$(1).a)),-l:lib$(1).a,-l$(1))

.PHONY: node node-files npm node-test node-asan node-real bench-node

$(NODE_MADE)/made.c: include/hologram.json tools/bindings.py $(wildcard bindings/node/*.py)
	@mkdir -p $(@D)
	$(Q)python3 bindings/node/make.py $(NODE_MADE)
$(NODE_MADE)/made.h $(NODE_MADE)/enums.mjs $(NODE_MADE)/c.d.ts: $(NODE_MADE)/made.c
$(NODE_MADE)/fields.c $(NODE_MADE)/options.mjs: bindings/shared/make_fields.py include/hologram.json tools/bindings.py
	@mkdir -p $(@D)
	$(Q)python3 $< $(if $(filter %.c,$@),camel,mjs) $@
$(NODE_OBJ): CFLAGS += -I$(NODE_MADE) -Ibindings/node/src -Ibindings/shared
$(call obj,$(NODE_SRC)): $(NODE_MADE)/made.h
$(NODE_MADE)/made.o $(NODE_MADE)/fields.o: %.o: %.c
	@echo "  cc    $<"
	$(Q)$(CC) -std=c11 $(CFLAGS) $(UNWIND) -MMD -MP -c $< -o $@

$(NODE_ADDON): $(NODE_OBJ) $(LIB_COMP) $(LIB) bindings/node/addon.map
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) $(LDFLAGS) -shared $(UNUSED) -Wl,--version-script=bindings/node/addon.map $(if $(NODE_LIBC),$(PY_WRAPPED:%=-Wl$(comma)--wrap=%)) -o $@ $(NODE_OBJ) $(LIB_COMP) $(LIB) \
	    -Wl,--defsym=stdin=js_functions_run $(call node_static,jansson) $(call node_static,z) $(LDLIBS)
	$(if $(SANITIZE),,$(Q)$(STRIP) $@)

# The JavaScript, its types, and what npm wants to know.
NODE_TEXTS := $(wildcard bindings/node/types/*.d.ts) bindings/node/package.json bindings/node/README.md LICENSE-MIT LICENSE-APACHE
$(NODE_FOLDER)/package.json: bindings/node/pack.py bindings/node/rules.mk $(NODE_FACE) bindings/node/node/native.cjs $(NODE_TEXTS) $(NODE_MADE)/made.c
	@mkdir -p $(NODE_FOLDER)
	$(Q)python3 bindings/node/pack.py $(NODE_FOLDER) $(NODE_FACE) $(NODE_MADE)/c.mjs bindings/node/node/native.cjs
	$(Q)for file in $(filter %.d.ts,$(NODE_TEXTS)) $(NODE_MADE)/c.d.ts; do name=$$(basename $$file .d.ts); \
	    cp $$file $(NODE_FOLDER)/$$name.d.ts && sed 's|"\(\./[a-z]*\)\.js"|"\1.mjs"|' $$file > $(NODE_FOLDER)/$$name.d.mts; done
	$(Q)cp $(filter-out %.d.ts %.json,$(NODE_TEXTS)) $(NODE_FOLDER)/
	$(Q)sed 's/"version": ".*"/"version": "$(VERSION)"/' bindings/node/package.json > $@

## make node          install what is missing, and build the npm package hologram in build/node
node: deps
	@sh tools/deps.sh python3
	@$(MAKE) --no-print-directory $(JOBS) node-files
node-files: $(NODE_FOLDER)/package.json $(NODE_ADDON)

## make npm           the same with its part for browsers (make web-package), as build/hologram-VERSION.tgz, for npm install
NPM_PACKAGE := $(BUILD)/hologram-$(VERSION).tgz
npm: node web-package npm-pack
# What is there: without its part for browsers the package is for Node alone.
.PHONY: npm-pack
npm-pack: node
	@echo "  npm   $(NPM_PACKAGE)$(if $(wildcard $(NODE_FOLDER)/web/index.mjs),, without its part for browsers: make npm)"
	$(Q)python3 bindings/node/tgz.py $(NODE_FOLDER) $(NPM_PACKAGE)

## make node-test     the tests of the package, installed from its .tgz into an empty folder
node-test: npm-pack
	@HOLOGRAM_TGZ=$(abspath $(NPM_PACKAGE)) HOLOGRAM_NODE=$(abspath $(NODE_FOLDER)) CC="$(CC)" sh tests/node/run.sh $(NODE)

## make node-asan     the tests of the package under the address and undefined behavior sanitizers; memory that is lost fails it, too
node-asan: $(filter $(BUILD)/obj/level_%,$(RUNTIME_OBJ)) $(STDLIB)
	@$(MAKE) --no-print-directory $(JOBS) $(WATCH) node-files
	@HOLO_CPU=$(PLAINEST) HOLOGRAM_NODE=$(abspath $(BUILD)/watched/node) CC="$(CC)" sh tests/node/asan.sh $(NODE)

BINDING_TESTS    += node-test
BINDING_FILES    += node-files
BINDING_PACKAGES += $(if $(shell command -v $(NODE)),,nodejs)

## make bench-node    what a call from JavaScript costs beside one from C and beside onnxruntime-node
$(BUILD)/bench/node-overhead: bench/node/overhead.c $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(CFLAGS) $< $(LIB) -o $@ $(LDLIBS)
bench-node: node-files $(BUILD)/bench/node-overhead
	@HOLOGRAM_NODE=$(abspath $(NODE_FOLDER)) $(NODE) bench/node/overhead.mjs $(BUILD)/bench/node-overhead

## make node-real     real models by hologram/onnxruntime and by onnxruntime-node: REAL_FOLDER and ORT_NODE_MODULES say where they are
node-real: node-files
	@HOLOGRAM_NODE=$(abspath $(NODE_FOLDER)) $(NODE) tests/node/real.mjs
