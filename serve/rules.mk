# The server: a program of its own, build/hologram-serve, that links libraries of others. Without their headers it is left out.

SERVE_PACKAGES := zlib1g-dev libnghttp2-dev libssl-dev libprotobuf-c-dev protobuf-c-compiler
SERVE_TESTERS  := python3-grpcio python3-protobuf python3-yaml protobuf-compiler nghttp2-client curl
SERVE_HEADERS  := zlib.h nghttp2/nghttp2.h openssl/ssl.h protobuf-c/protobuf-c.h
SERVE_LIBS     := -lz -lnghttp2 -lssl -lcrypto -lprotobuf-c
SERVE          := $(BUILD)/hologram-serve
SERVE_PROTO    := $(patsubst serve/proto/%.proto,$(BUILD)/serve/%.pb-c.c,$(wildcard serve/proto/*.proto))
# Test programs and fuzzers of the server see all of it but its main.
SERVE_ROOM     := $(filter-out serve/main.c,$(wildcard serve/*.c))
SERVE_OBJ      := $(call obj,$(SERVE_ROOM)) $(SERVE_PROTO:%.c=%.o) $(BUILD)/serve/page.o

# Only on Linux, and for this machine.
SERVE_CAN := $(if $(ROOT)$(WATCHED),,$(if $(findstring linux,$(TRIPLE)),$(shell command -v protoc-c > /dev/null && \
    printf '\043include <%s>\n' $(SERVE_HEADERS) | $(CC) -E - > /dev/null 2>&1 && echo yes)))

# Debian's own Python has Debian's grpcio.
SERVE_PYTHON := $(or $(wildcard /usr/bin/python3),python3)

.PHONY: serve-program serve-test
ifneq ($(SERVE_CAN),)
serve-program: $(SERVE)
else
serve-program:
	@echo "  serve was left out: it needs what these Debian packages hold: $(SERVE_PACKAGES)"
endif

$(call obj,$(SERVE_ROOM) serve/main.c): CFLAGS += -Icli -I$(BUILD)/serve -Wno-missing-field-initializers
$(call obj,$(SERVE_ROOM) serve/main.c): $(SERVE_PROTO:%.c=%.h)
$(BUILD)/serve/%.pb-c.c $(BUILD)/serve/%.pb-c.h &: serve/proto/%.proto
	@mkdir -p $(@D)
	@echo "  proto $<"
	$(Q)protoc-c --proto_path=serve/proto --c_out=$(BUILD)/serve $<
$(BUILD)/serve/%.o: $(BUILD)/serve/%.c
	$(Q)$(CC) -std=c11 $(CFLAGS) -c $< -o $@
$(BUILD)/serve/page.c: serve/page.html serve/page.sh
	@mkdir -p $(@D)
	$(Q)sh serve/page.sh serve/page.html > $@

$(SERVE): $(BUILD)/obj/serve/main.o $(SERVE_OBJ) $(LIB_COMP) $(LIB)
	@echo "  link  $@"
	$(Q)$(CC) $(LDFLAGS) $(UNUSED) -o $@ $^ $(SERVE_LIBS) $(COMPILER_LIBS) $(LDLIBS)

## make serve-test    the server, asked over loopback
serve-test: serve-program
	@[ -n "$(SERVE_CAN)" ] || exit 0; set -e; for t in tests/serve/*_test.py; do BUILD=$(BUILD) $(SERVE_PYTHON) $$t; done


## make serve-watched the same, with the server's own code under the address and undefined behavior sanitizers
WATCHED_SERVE := $(BUILD)/serve/watched/hologram-serve
WATCHED_FLAGS  = -fsanitize=$(or $(SERVE_SANITIZE),address$(comma)undefined) -fno-sanitize-recover=all -fno-omit-frame-pointer -O1
WATCHED_OBJ   := $(patsubst serve/%.c,$(BUILD)/serve/watched/%.o,$(SERVE_ROOM) serve/main.c)
$(BUILD)/serve/watched/%.o: serve/%.c $(SERVE_PROTO:%.c=%.h)
	@mkdir -p $(@D)
	@echo "  cc    $< watched"
	$(Q)$(CC) -std=c11 $(CFLAGS) -Icli -I$(BUILD)/serve -Wno-missing-field-initializers $(WATCHED_FLAGS) -MMD -MP -c $< -o $@
-include $(wildcard $(BUILD)/serve/watched/*.d)
$(WATCHED_SERVE): $(WATCHED_OBJ) $(SERVE_PROTO:%.c=%.o) $(BUILD)/serve/page.o $(LIB_COMP) $(LIB)
	@echo "  link  $@"
	$(Q)$(CC) $(LDFLAGS) $(WATCHED_FLAGS) -o $@ $^ $(SERVE_LIBS) $(COMPILER_LIBS) $(LDLIBS)
.PHONY: serve-watched
serve-watched: $(if $(SERVE_CAN),$(WATCHED_SERVE)) $(BUILD)/hologram
	@[ -n "$(SERVE_CAN)" ] || exit 0; set -e; for t in tests/serve/*_test.py; do BUILD=$(BUILD) SERVE_PROGRAM=$(WATCHED_SERVE) $(SERVE_PYTHON) $$t; done

BINDING_TESTS    += serve-test serve-watched
BINDING_FILES    += serve-program $(if $(SERVE_CAN),$(WATCHED_SERVE))
BINDING_PACKAGES += $(SERVE_PACKAGES) $(SERVE_TESTERS)

# ---- fuzzing: fuzz/serve/NAME.c, with its corpus in fuzz/corpus/serve_NAME

SERVE_FUZZERS := $(patsubst fuzz/serve/%.c,%,$(wildcard fuzz/serve/*.c))
SERVE_REPLAY  := $(if $(SERVE_CAN),$(SERVE_FUZZERS:%=$(BUILD)/serve/fuzz-%))
SERVE_FUZZ_FLAGS = -Icli -Iserve -Ifuzz/serve -I$(BUILD)/serve -Wno-missing-field-initializers
# Replayed with the objects that are watched.
$(BUILD)/serve/fuzz-%: fuzz/serve/%.c fuzz/replay.c $(filter-out %/main.o,$(WATCHED_OBJ)) $(SERVE_PROTO:%.c=%.o) $(BUILD)/serve/page.o $(LIB_COMP) $(LIB)
	@echo "  fuzz  $@"
	$(Q)$(CC) -std=c11 $(CFLAGS) $(SERVE_FUZZ_FLAGS) $(WATCHED_FLAGS) $(filter %.c %.o %.a,$^) $(SERVE_LIBS) $(COMPILER_LIBS) $(LDLIBS) -o $@
.PHONY: serve-fuzz serve-fuzz-replay
# A language model for the fuzzer of whole servers.
SERVE_TALKER := $(BUILD)/serve/talker.holo
$(SERVE_TALKER): tests/serve/models.py $(BUILD)/hologram
	@cd tests/serve && BUILD=$(abspath $(BUILD)) $(SERVE_PYTHON) -c 'import models, sys; models.language(sys.argv[1])' $(abspath $(BUILD)/serve)
serve-fuzz-replay: export SERVE_FUZZ_MODEL := $(SERVE_TALKER)
serve-fuzz-replay: $(SERVE_REPLAY) $(if $(SERVE_CAN),$(SERVE_TALKER))
	@set -e; for t in $(if $(SERVE_CAN),$(SERVE_FUZZERS)); do $(BUILD)/serve/fuzz-$$t fuzz/corpus/serve_$$t; done
## make serve-fuzz T=http SECONDS=60   fuzz one input of the server: http, kserve, grpc, or all of it: conn
serve-fuzz: export SERVE_FUZZ_MODEL := $(SERVE_TALKER)
serve-fuzz: $(LIB_COMP) $(LIB) $(SERVE_PROTO) $(BUILD)/serve/page.c $(SERVE_TALKER)
	@mkdir -p build/fuzz/found-serve-$(T)
	clang -g -O1 -std=c11 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Iinclude -Isrc $(SERVE_FUZZ_FLAGS) fuzz/serve/$(T).c $(SERVE_ROOM) \
	    $(SERVE_PROTO) $(BUILD)/serve/page.c $(LIB_COMP) $(LIB) $(SERVE_LIBS) $(COMPILER_LIBS) $(LDLIBS) -pthread -o build/fuzz/serve-$(T)-fuzzer
	build/fuzz/serve-$(T)-fuzzer -max_total_time=$(SECONDS) -timeout=20 -rss_limit_mb=2048 -artifact_prefix=build/fuzz/ build/fuzz/found-serve-$(T) fuzz/corpus/serve_$(T)
BINDING_TESTS += serve-fuzz-replay
BINDING_FILES += $(SERVE_REPLAY) $(if $(SERVE_CAN),$(SERVE_TALKER))

## make serve-demo    serves the digits model and a small language model, and prints commands to try
.PHONY: serve-demo serve-clients bench-serve bench-serve-table
serve-demo: deps
	@sh tools/deps.sh $(SERVE_PACKAGES) curl
	@$(MAKE) --no-print-directory $(JOBS) all
	@sh serve/demo.sh $(BUILD)

## make serve-clients the server, asked by clients of others: npm's openai and @grpc/grpc-js, promtool; manifests by kubernetes-models
serve-clients: deps
	@sh tools/deps.sh $(SERVE_PACKAGES) $(SERVE_TESTERS) prometheus
	@command -v npm > /dev/null || sh tools/deps.sh npm
	@$(MAKE) --no-print-directory $(JOBS) all
	@mkdir -p $(BUILD)/serve/clients && cp tests/serve/clients/package.json $(BUILD)/serve/clients/
	@cd $(BUILD)/serve/clients && npm install --silent --no-audit --no-fund
	@BUILD=$(BUILD) $(SERVE_PYTHON) tests/serve/clients/check.py $(BUILD)/serve/clients

## make serve-faults  what takes longer than a test may: 10,000 connections, slow clients, kill -9, a full disk, a million requests
.PHONY: serve-faults
serve-faults: $(SERVE) $(BUILD)/hologram
	@sh tools/deps.sh nghttp2-client
	@$(SERVE_PYTHON) bench/serve/faults.py $(BUILD)

## make serve-image   what goes into an image of the server, in build/serve/image (packaging/container/Containerfile)
## make serve-container builds the image by buildah, starts the server in it and asks it; needs no daemon and no registry
.PHONY: serve-image serve-container
serve-image: $(SERVE) $(BUILD)/hologram
	@mkdir -p $(BUILD)/serve/image
	$(Q)for p in hologram hologram-serve; do $(STRIP) -o $(BUILD)/serve/image/$$p $(BUILD)/$$p || exit 1; done
serve-container: serve-image
	@sh tools/deps.sh buildah mmdebstrap curl procps
	@sh packaging/container/try.sh $(BUILD) demo/digits.onnx

## make bench-serve   requests a second over loopback: beside `hologram bench`, onnxruntime-node and (LLAMA=...) llama-server; 4 minutes
SERVE_BENCH   := $(BUILD)/serve/bench
SERVE_MODELS   = $(or $(MODELS),$(wildcard $(SERVE_BENCH)/mobilenet_v2.onnx $(SERVE_BENCH)/minilm.onnx))
bench-serve: $(SERVE) $(BUILD)/hologram
	@sh tools/deps.sh wrk nghttp2-client
	@mkdir -p $(SERVE_BENCH)
	@[ -n "$(MODELS)" ] || sh bench/serve/get.sh $(SERVE_BENCH)
	@$(MAKE) --no-print-directory bench-serve-table
bench-serve-table:
	@PEER="$(or $(PEER),$(wildcard $(SERVE_BENCH)/peer))" LLAMA="$(LLAMA)" CHAT="$(CHAT)" python3 bench/serve/run.py $(BUILD) $(or $(SERVE_MODELS),demo/digits.onnx)
