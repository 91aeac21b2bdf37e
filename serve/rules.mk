# The server: a program of its own, build/hologram-serve, that links libraries of others. Without their headers it is left out.

SERVE_PACKAGES := libnghttp2-dev libssl-dev libprotobuf-c-dev protobuf-c-compiler
SERVE_TESTERS  := python3-grpcio python3-protobuf protobuf-compiler nghttp2-client curl
SERVE_HEADERS  := nghttp2/nghttp2.h openssl/ssl.h protobuf-c/protobuf-c.h
SERVE_LIBS     := -lnghttp2 -lssl -lcrypto -lprotobuf-c
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
