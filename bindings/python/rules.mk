# The Python package. PYTHON is the one that it is built for and tested with: any from 3.9 on will run what is built.
#
#   make python        build/python/hologram: PYTHONPATH=build/python python3 -c "import hologram"
#   make wheel         build/wheel/hologram-VERSION-...whl
#   make python-test   the tests, with NumPy and without

PYTHON          ?= $(firstword $(wildcard /usr/bin/python3) python3)
PYTHON_PACKAGES := python3-dev python3-numpy python3-onnx python3-venv python3-pip
BINDING_TESTS   += python-test
BINDING_FILES   += python-files
BINDING_PACKAGES += $(PYTHON_PACKAGES)
PY              := $(BUILD)/python
PY_SRC          := $(wildcard bindings/python/src/*.c)
SHARED_SRC      := $(wildcard bindings/shared/*.c)
PY_FILES        := $(shell cd bindings/python && find hologram -name '*.py' -o -name '*.pyi' -o -name py.typed)
PY_KERNELS      := $(shell find kernels/stdlib -name '*.py')
PY_OBJ          := $(patsubst bindings/python/src/%.c,$(BUILD)/obj/python/%.o,$(PY_SRC)) \
                   $(patsubst bindings/shared/%.c,$(BUILD)/obj/python/%.o,$(SHARED_SRC)) $(BUILD)/obj/python/made.o $(BUILD)/obj/python/fields_made.o $(BUILD)/obj/python/cli_main.o
PY_EXTENSION    := $(PY)/hologram/_hologram.abi3.so
PY_FLAGS         = -Ibindings/python/src -Ibindings/shared $(shell $(PYTHON) -c 'import sysconfig; print("-I" + sysconfig.get_paths()["include"])')

.PHONY: python python-files wheel python-test python-asan
## make python        install what is missing, and build the Python package in build/python
python: deps
	@sh tools/deps.sh python3-dev
	@$(MAKE) --no-print-directory $(JOBS) python-files
python-files: $(PY_EXTENSION) $(PY_FILES:%=$(PY)/%) $(PY)/hologram/kernels/.made

$(BUILD)/obj/python/made.c: bindings/python/make_bindings.py tools/bindings.py include/hologram.json
	@mkdir -p $(@D)
	@echo "  py    $@"
	$(Q)$(PYTHON) bindings/python/make_bindings.py $@
$(BUILD)/obj/python/made.o: $(BUILD)/obj/python/made.c bindings/python/src/made.h bindings/python/src/pyholo.h
	$(Q)$(CC) -std=c11 $(CFLAGS) $(PY_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/obj/python/fields_made.c: bindings/shared/make_fields.py tools/bindings.py include/hologram.json
	@mkdir -p $(@D)
	$(Q)$(PYTHON) $< snake $@
$(BUILD)/obj/python/fields_made.o: $(BUILD)/obj/python/fields_made.c bindings/shared/fields.h
	$(Q)$(CC) -std=c11 $(CFLAGS) -Ibindings/shared -MMD -MP -c $< -o $@
$(BUILD)/obj/python/%.o: bindings/shared/%.c Makefile bindings/python/rules.mk
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(CFLAGS) -Ibindings/shared -MMD -MP -c $< -o $@
$(BUILD)/obj/python/%.o: bindings/python/src/%.c Makefile bindings/python/rules.mk
	@mkdir -p $(@D)
	@echo "  cc    $<"
	$(Q)$(CC) -std=c11 $(CFLAGS) $(PY_FLAGS) -MMD -MP -c $< -o $@
# The program, as a function.
$(BUILD)/obj/python/cli_main.o: cli/main.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(CFLAGS) -Dmain=holo_cli_main -MMD -MP -c $< -o $@
-include $(wildcard $(BUILD)/obj/python/*.d)

# Needs nothing but libc, of glibc 2.28 or later (old_libc.c): the libraries of the compiler are put in.
PY_WRAPPED := pthread_create pthread_join pthread_once pthread_kill pthread_mutex_trylock pthread_setaffinity_np dlopen dlsym dlclose exp log log2 pow stat fstat
PY_LIBS    := $(BUILD)/obj/python/libjansson.a $(BUILD)/obj/python/libz.a
$(BUILD)/obj/python/lib%.a:
	@mkdir -p $(@D)
	$(Q)objcopy --redefine-sym stdin=holo_py_stream $$($(CC) -print-file-name=lib$*.a) $@
$(PY_EXTENSION): $(PY_OBJ) $(filter-out %/cli/main.o,$(CLI_OBJ)) $(LIB_COMP) $(LIB) $(PY_LIBS)
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) $(LDFLAGS) -shared $(UNUSED) -Wl,--exclude-libs,ALL $(if $(SANITIZE),,$(PY_WRAPPED:%=-Wl$(comma)--wrap=%)) -o $@ $^ $(LDLIBS)

$(PY)/hologram/%: bindings/python/hologram/%
	@mkdir -p $(@D)
	$(Q)cp $< $@
# The standard library of kernels, as sources.
$(PY)/hologram/kernels/.made: $(PY_KERNELS)
	@mkdir -p $(@D)
	$(Q)cp -r kernels/stdlib $(@D)/ && touch $@

## make wheel         build/wheel: the Python package as one file for pip
wheel: python
	@rm -rf $(BUILD)/wheel
	@$(PYTHON) bindings/python/make_wheel.py $(PY) $(BUILD)/wheel $(VERSION)

## make python-test   the tests of the Python package, with NumPy and without
python-test:
	@sh tools/deps.sh $(PYTHON_PACKAGES)
	@$(MAKE) --no-print-directory $(JOBS) wheel
	@BUILD=$(abspath $(BUILD)) PYTHON="$(PYTHON)" sh tests/python/run.sh

## make python-asan   the same under the address and undefined behavior sanitizers; memory that is lost fails it, too
python-asan: $(filter $(BUILD)/obj/level_%,$(RUNTIME_OBJ)) $(STDLIB)
	@$(MAKE) --no-print-directory $(JOBS) $(WATCH) python-files
	@BUILD=$(abspath $(BUILD))/watched PYTHON="$(PYTHON)" HOLO_CPU=$(PLAINEST) CC="$(CC)" sh tests/python/asan.sh
