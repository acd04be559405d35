# SPDX-License-Identifier: BSD-2-Clause
# make            build proftrace            make demo    install, build, profile a bundled job
# make deps       install what it needs      make test    install, build, run all tests
# make unit       unit tests only            make check   format, gcc + clang, sanitizers, tidy
# make bench      side-by-side measurements  make install DESTDIR= PREFIX=/usr/local
# make deb        a Debian package, in build/    make wheel   a wheel for pip, with a reader for Python
# make tarball    an archive for other Linuxes, with the libraries
# make fuzz       fuzz what is read from strangers      make simgpu    a simulated GPU
# make demo-monitor   the same of proftrace monitor, with two jobs and a Prometheus
# make test-kernels   some of the tests on other kernels, in virtual machines
# make tsan       races of the library in the target
# make gpu-test   tests, golden trace and figures on a real GPU     make clean
# make gpu-bundle   what that needs, in a folder for a machine that can install nothing
# make test-matrix ARGS='--remove torch'   the frameworks' suites with each version that is checked
# make test-programs   programs whose loop is a library's: Lightning, transformers, keras, accelerate, fastai

VERSION   := 0.1.0
BUILD     ?= build
# One spelling, since it is part of the flags.
override BUILD := $(patsubst $(CURDIR)/%,%,$(BUILD))
PREFIX    ?= /usr/local
DESTDIR   ?=
ifeq ($(origin CC),default)
CC        := gcc
endif
CLANG     ?= $(firstword $(wildcard /usr/bin/clang-19 /usr/bin/clang-16 /usr/bin/clang) clang)
BPFTOOL   ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)
ARCH      := $(shell uname -m)
BPF_ARCH  := $(ARCH:x86_64=x86)

PKGS      := libbpf libelf libdw zlib libzstd jansson sqlite3 libmicrohttpd ncursesw
# Their headers alone: the monitor loads libcurl where it sends figures.
HEADERS   := libcurl
BPF_MIN   := 1.3
CFLAGS    ?= -O2 -g
WARNINGS  := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
             -Wno-unused-parameter -Wno-missing-field-initializers
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) $(HEADERS) 2>/dev/null)
PKG_LIBS   := $(shell pkg-config --libs $(PKGS) 2>/dev/null)
ALL_CFLAGS = -std=gnu17 -D_GNU_SOURCE -DPROFTRACE_VERSION='"$(VERSION)"' $(WARNINGS) \
             -Iuser -I. -I$(BUILD) $(PKG_CFLAGS) $(CFLAGS) $(SAN)
LIBS       = $(PKG_LIBS) -lZydis -Wl,-Bstatic -lstdc++ -Wl,-Bdynamic -lm -lpthread $(LDFLAGS) $(SAN)

SRCS      := $(filter-out user/cli/main.c,$(sort $(wildcard user/*/*.c user/*/*/*.c exporters/*.c exporters/*/*.c)))
OBJS      := $(SRCS:%.c=$(BUILD)/%.o) $(BUILD)/user/page/assets.o $(BUILD)/user/monitor/assets.o
BPF_SRCS  := $(sort $(wildcard bpf/*.bpf.c))
BPF_OBJS  := $(BPF_SRCS:%.bpf.c=$(BUILD)/%.bpf.o)
SKEL      := $(BUILD)/bpf/proftrace.skel.h
SYSCALLS  := $(BUILD)/syscall_names.h
SHIM      := $(BUILD)/libproftrace_cupti.so
SHIM_OBJS := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard cupti_shim/*.c)))
TEST_SRCS := $(sort $(wildcard tests/unit/*.c))
TEST_OBJS := $(TEST_SRCS:%.c=$(BUILD)/%.o)

COMMANDS  := record run report diff export ctl doctor cpu monitor top completion
MAN_PAGES := $(BUILD)/proftrace.1 $(COMMANDS:%=$(BUILD)/proftrace-%.1)

# V=1 shows the commands.
say = @$(if $(V),:,printf '  %-8s %s\n' $(1) $(patsubst $(BUILD)/%,%,$@))
Q  := $(if $(V),,@)

.PHONY: all deps test-deps need-packages skel print-cflags unit test gpu-test gpu-bundle tsan test-kernels test-matrix test-programs check demo demo-monitor bench fuzz install uninstall deb wheel tarball clean FORCE
.DELETE_ON_ERROR:
all: $(BUILD)/proftrace $(MAN_PAGES) $(SHIM)

# ---- what must be installed ----
deps:
	@scripts/install-deps build
test-deps:
	@scripts/install-deps

# Cheap enough for each build, and clearer than the compiler's first missing header.
need-packages:
	@pkg-config --exists 'libbpf >= $(BPF_MIN)' $(filter-out libbpf,$(PKGS)) $(HEADERS) 2>/dev/null && \
	    command -v $(CLANG) $(BPFTOOL) $(CC) >/dev/null && \
	    echo '#include <Zydis/Zydis.h>' | $(CC) -xc -E -o /dev/null - 2>/dev/null || { \
	    echo 'proftrace needs packages that are not installed; run: make deps' >&2; \
	    pkg-config --print-errors --exists 'libbpf >= $(BPF_MIN)' $(PKGS) $(HEADERS) 2>&1 | \
	        grep -E 'not found|Requested|command' >&2; exit 1; }

# ---- stamps: rewritten only when their text changes, so that what depends on them is rebuilt ----
stamp = @mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || \
        printf '%s\n' '$(subst ','\'',$(1))' > $@
$(BUILD)/cflags: FORCE | need-packages
	$(call stamp,$(CC) $(ALL_CFLAGS) $(LIBS))
$(BUILD)/bpf-cflags: FORCE | need-packages
	$(call stamp,$(CLANG) $(BPF_CFLAGS) $(BPFTOOL))
$(BUILD)/sources: FORCE
	$(call stamp,$(SRCS) $(TEST_SRCS))
$(BUILD)/bpf-sources: FORCE
	$(call stamp,$(BPF_SRCS))
FORCE:

# ---- user space ----
$(BUILD)/proftrace: $(BUILD)/user/cli/main.o $(OBJS) $(BUILD)/sources
	$(call say,LINK)
	$(Q)$(CC) -o $@ $(filter %.o,$^) $(LIBS)

$(MAN_PAGES): $(BUILD)/proftrace
	$(call say,GEN)
	$(Q)$< --man $(patsubst proftrace-%,%,$(filter proftrace-%,$(basename $(@F)))) > $@

$(BUILD)/%.o: %.c $(BUILD)/cflags | $(SKEL) $(SYSCALLS)
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# What the pages are made of goes into the program as it is.
$(BUILD)/user/page/assets.o: $(sort $(wildcard user/page/assets/*))
$(BUILD)/user/monitor/assets.o: $(sort $(wildcard user/monitor/assets/*))
$(BUILD)/%/assets.o: %/assets.S $(BUILD)/cflags
	$(call say,AS)
	@mkdir -p $(@D)
	$(Q)$(CC) -c -o $@ $<

# ---- the library that goes into the target: needs nothing but libc, exports two functions ----
$(SHIM): $(SHIM_OBJS)
	$(call say,LINK)
	$(Q)$(CC) -shared -o $@ $^ -Wl,-z,defs,-z,now,-z,nodelete -Wl,--as-needed -ldl -lpthread
$(SHIM_OBJS): ALL_CFLAGS = -std=gnu17 -D_GNU_SOURCE $(WARNINGS) -I. -O2 -g -fPIC -fvisibility=hidden

# What CUPTI costs without it, for bench/device.
.PHONY: bare-cupti
bare-cupti: $(BUILD)/bare_cupti.so
$(BUILD)/bare_cupti.so: bench/device/bare_cupti.c $(BUILD)/cflags
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) -fPIC -shared -o $@ $<

# ---- BPF: one object per source of events, linked into one skeleton that shares maps ----
BPF_CFLAGS := -g -O2 -target bpf -mcpu=v3 -D__bpf__ -D__TARGET_ARCH_$(BPF_ARCH) -Wall -Werror \
              -Ivmlinux/$(ARCH) -Ibpf -I.
$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c $(BUILD)/bpf-cflags
	$(call say,BPF)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/bpf/proftrace.bpf.o: $(BPF_OBJS) $(BUILD)/bpf-sources
	$(call say,BPF)
	$(Q)$(BPFTOOL) gen object $@ $(filter %.o,$^)
$(SKEL): $(BUILD)/bpf/proftrace.bpf.o
	$(call say,GEN)
	$(Q)$(BPFTOOL) gen skeleton $< name proftrace_bpf > $@
skel: $(SKEL) $(SYSCALLS)
# The system calls of this architecture by number, out of the kernel's headers.
$(SYSCALLS):
	$(call say,GEN)
	@mkdir -p $(@D)
	$(Q)echo '#include <asm/unistd.h>' | $(CC) -E -dM -x c - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) [0-9]*$$/[__NR_\1] = "\1",/p' | sort > $@.new
	$(Q)test -s $@.new && mv $@.new $@

# ---- tests ----
# On all cores, unless make was told how many to use.
SUBMAKE = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

unit: $(BUILD)/unit-tests
	$(BUILD)/unit-tests --jobs 2
.PHONY: criterion
criterion:
	@pkg-config --exists criterion || { echo "the unit tests need Criterion: make test-deps installs it" >&2; exit 1; }
$(TEST_OBJS): | criterion
$(BUILD)/unit-tests: $(TEST_OBJS) $(OBJS) $(BUILD)/sources
	$(call say,LINK)
	$(Q)$(CC) -o $@ $(filter %.o,$^) $(shell pkg-config --libs criterion) $(LIBS)

test: test-deps
	@$(SUBMAKE) unit all simgpu
	@BUILD=$(abspath $(BUILD)) scripts/e2e

gpu-test: test-deps
	@BUILD=$(abspath $(BUILD)) scripts/gpu-test

# For a machine that has a GPU and neither these packages nor a way to get them.
BUNDLE := $(BUILD)/gpu-bundle
gpu-bundle: test-deps
	@$(SUBMAKE) $(SHIM) bare-cupti subscribes $(BUNDLE)/proftrace
	@BUILD=$(abspath $(BUILD)) scripts/gpu-bundle
# Of the old kind (DT_RPATH), since the libraries need each other.
$(BUNDLE)/proftrace: RUNPATH := $$ORIGIN/lib
# For the tarball and the wheel. The launcher runs it with the C library that they bring.
$(BUILD)/portable/proftrace: RUNPATH := $$ORIGIN
$(BUILD)/portable/launcher: packaging/launcher.c $(BUILD)/cflags
	$(call say,LINK)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE $(WARNINGS) -Os -static -o $@ $<
$(BUNDLE)/proftrace $(BUILD)/portable/proftrace: $(BUILD)/user/cli/main.o $(OBJS) $(BUILD)/sources
	$(call say,LINK)
	@mkdir -p $(@D)
	$(Q)$(CC) -o $@ $(filter %.o,$^) $(LIBS) -Wl,--disable-new-dtags,-rpath,'$(RUNPATH)'

test-kernels: test-deps
	@$(SUBMAKE) all
	@BUILD=$(abspath $(BUILD)) scripts/kernels $(KERNELS)

test-matrix: test-deps
	@$(SUBMAKE) all
	@BUILD=$(abspath $(BUILD)) scripts/test-matrix $(ARGS)

test-programs: test-deps
	@$(SUBMAKE) all
	@BUILD=$(abspath $(BUILD)) scripts/test-programs

tsan: all simgpu-13
	@BUILD=$(BUILD) tests/tsan/run

check: test-deps
	@scripts/check
print-cflags:
	@echo "$(subst ",\",$(ALL_CFLAGS))"

demo: deps
	@$(SUBMAKE) all
	@BUILD=$(abspath $(BUILD)) scripts/demo

demo-monitor: test-deps
	@$(SUBMAKE) all
	@BUILD=$(abspath $(BUILD)) scripts/demo-monitor

bench: test-deps
	@$(SUBMAKE) all
	@BUILD=$(abspath $(BUILD)) scripts/bench

fuzz: test-deps
	@scripts/fuzz
$(BUILD)/fuzz/%: $(BUILD)/tests/fuzz/%.o $(OBJS) $(BUILD)/sources
	$(call say,LINK)
	@mkdir -p $(@D)
	$(Q)$(CC) -o $@ $(filter %.o,$^) -fsanitize=fuzzer $(LIBS)

include tests/simgpu/simgpu.mk

# A tool that uses CUPTI, for the tests beside it; with stubs for its calls, and without.
SUBSCRIBES := $(BUILD)/subscribes $(BUILD)/subscribes-no-plt
.PHONY: subscribes
subscribes: $(SUBSCRIBES)
$(BUILD)/subscribes-no-plt: PLT := -fno-plt
$(SUBSCRIBES): tests/e2e/late/subscribes.c | simgpu-13
	$(call say,LINK)
	$(Q)$(CC) -std=gnu17 $(WARNINGS) $(PLT) -isystem $(SIMGPU_OUT)/include $< -L$(SIMGPU_LIB) \
	    -l:libcudart.so.13 -l:libcupti.so.13 -l:libcuda.so.1 -Wl,-rpath,$(abspath $(SIMGPU_LIB)) -o $@

# ---- installation ----
BINDIR    := $(DESTDIR)$(PREFIX)/bin
LIBDIR    := $(DESTDIR)$(PREFIX)/lib
INCDIR    := $(DESTDIR)$(PREFIX)/include
MANDIR    := $(DESTDIR)$(PREFIX)/share/man/man1
SHAREDIR  := $(DESTDIR)$(PREFIX)/share/proftrace
BASHDIR   := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSHDIR    := $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISHDIR   := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
UNITDIR   := $(DESTDIR)$(PREFIX)/lib/systemd/system
SYSCONFDIR ?= /etc
CONF      := $(DESTDIR)$(SYSCONFDIR)/proftrace/monitor.conf
SHARED    := $(shell find share/proftrace -type f)

# What an administrator changed in the configuration stays.
install: all
	install -D -m 755 $(BUILD)/proftrace $(BINDIR)/proftrace
	install -D -m 755 $(SHIM) $(LIBDIR)/proftrace/$(notdir $(SHIM))
	install -D -m 644 include/proftrace.h $(INCDIR)/proftrace.h
	for file in $(SHARED:share/proftrace/%=%); do \
	    install -D -m 644 share/proftrace/$$file $(SHAREDIR)/$$file || exit 1; done
	install -d $(UNITDIR)
	sed 's|@BINDIR@|$(PREFIX)/bin|; s|@SYSCONFDIR@|$(SYSCONFDIR)|' packaging/proftrace-monitor.service.in > \
	    $(UNITDIR)/proftrace-monitor.service
	test -e $(CONF) || install -D -m 644 packaging/monitor.conf $(CONF)
	install -d $(MANDIR) $(BASHDIR) $(ZSHDIR) $(FISHDIR)
	install -m 644 $(MAN_PAGES) $(MANDIR)
	$(BUILD)/proftrace completion bash > $(BASHDIR)/proftrace
	$(BUILD)/proftrace completion zsh > $(ZSHDIR)/_proftrace
	$(BUILD)/proftrace completion fish > $(FISHDIR)/proftrace.fish

uninstall:
	rm -rf $(LIBDIR)/proftrace $(SHAREDIR)
	rm -f $(BINDIR)/proftrace $(INCDIR)/proftrace.h $(addprefix $(MANDIR)/,$(notdir $(MAN_PAGES))) \
	    $(BASHDIR)/proftrace $(ZSHDIR)/_proftrace $(FISHDIR)/proftrace.fish $(UNITDIR)/proftrace-monitor.service
	! cmp -s packaging/monitor.conf $(CONF) || rm $(CONF)

# ---- packages ----
# All are made from `make install`, so that none lacks what that has.
deb: all
	@BUILD=$(abspath $(BUILD)) VERSION=$(VERSION) scripts/deb
wheel tarball: all $(BUILD)/portable/proftrace $(BUILD)/portable/launcher
	@BUILD=$(abspath $(BUILD)) VERSION=$(VERSION) scripts/$@

clean:
	rm -rf $(BUILD) build-*

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
