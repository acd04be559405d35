# SPDX-License-Identifier: BSD-2-Clause
# make simgpu        a simulated CUDA stack in $(BUILD)/simgpu, on which real PyTorch runs
# make simgpu-test   its own tests, in seconds and without PyTorch
#
# It is made from the headers and libraries that PyTorch's wheels bring: SIMGPU_PYTHON is a Python
# that has them. See tests/simgpu/README.md.

SIMGPU     := tests/simgpu
SIMGPU_OUT := $(BUILD)/simgpu
SIMGPU_GEN := $(SIMGPU_OUT)/gen
SIMGPU_LIB := $(SIMGPU_OUT)/lib

SIMGPU_GENERATED := $(addprefix $(SIMGPU_GEN)/,cuda_wrap cudart_wrap cudart_stub cupti_stub \
                    cublas_auto cublas_stub cublasLt_stub cudnn_auto cudnn_stub nccl_stub)

SIMGPU_PYTHON ?= $(shell scripts/torch-python)

SIMGPU_LIBS := libcuda.so.1 libcudart.so.13 libcupti.so.13
SIMGPU_MORE_LIBS := libcublas.so.13 libcublasLt.so.13 libcudnn.so.9 libnccl.so.2 libnvidia-ml.so.1
SIMGPU_CFLAGS = -std=gnu17 -D_GNU_SOURCE -O2 -g -fPIC -Wall -Wextra -Werror -Wno-unused-parameter \
                -Wno-missing-field-initializers -I$(SIMGPU) -I$(SIMGPU_GEN) \
                -isystem $(SIMGPU_OUT)/include $(SAN)
SIMGPU_LDFLAGS := $(if $(SAN),,-Wl,-z,defs) -Wl,-rpath,'$$ORIGIN' -L$(SIMGPU_LIB) -lpthread $(SAN)

.PHONY: simgpu simgpu-test
simgpu: $(SIMGPU_OUT)/ready
	@$(MAKE) --no-print-directory $(SIMGPU_LIBS:%=$(SIMGPU_LIB)/%) \
	    $(SIMGPU_MORE_LIBS:%=$(SIMGPU_LIB)/%) $(SIMGPU_LIB)/libcuda.so $(SIMGPU_CLIENTS) \
	    $(SIMGPU_OUT)/observer.so
	$(Q)$(SIMGPU)/deploy/farm --if-needed $(SIMGPU_PYTHON) $(SIMGPU_OUT) $(SIMGPU_OUT)/venv

simgpu-test: simgpu
	$(SIMGPU)/client/run $(SIMGPU_OUT)

# The vendor's headers under one folder, and what is generated from them; anew where these wheels are gone.
$(SIMGPU_OUT)/ready: $(SIMGPU)/generate.py $(SIMGPU)/wheels $(wildcard $(SIMGPU)/*/*.c) \
                     $(if $(wildcard $(SIMGPU_OUT)/wheels/.),,FORCE)
	$(call say,GEN)
	@mkdir -p $(SIMGPU_LIB) $(SIMGPU_OUT)/client
	$(Q)$(SIMGPU)/wheels $(SIMGPU_PYTHON) $(SIMGPU_OUT)
	$(Q)python3 $(SIMGPU)/generate.py $(SIMGPU_OUT)/wheels $(SIMGPU_GEN) $(if $(V),,>/dev/null)
	@touch $@

$(SIMGPU_OUT)/%.o: $(SIMGPU)/%.c | $(SIMGPU_OUT)/ready
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SIMGPU_CFLAGS) -MMD -MP -c -o $@ $<
# Bodies have the vendor's signatures, and not all of those are clean.
$(SIMGPU_GENERATED:=.c): $(SIMGPU_OUT)/ready ;
$(SIMGPU_GENERATED:=.o): %.o: %.c
	$(call say,CC)
	$(Q)$(CC) $(SIMGPU_CFLAGS) -w -MMD -MP -c -o $@ $<
$(SIMGPU_GEN)/cuda_wrap.o: SIMGPU_CFLAGS += -D__CUDA_API_VERSION_INTERNAL

simgpu_objects = $(patsubst $(SIMGPU)/%.c,$(SIMGPU_OUT)/%.o,$(sort $(wildcard $(1))))
simgpu_link = $(Q)$(CC) -shared -Wl,-soname,$(@F) -o $@ $(filter %.o,$^) $(SIMGPU_LDFLAGS) $(1)

$(SIMGPU_LIB)/libcuda.so.1: $(call simgpu_objects,$(SIMGPU)/engine/*.c $(SIMGPU)/driver/*.c) \
                            $(SIMGPU_GEN)/cuda_wrap.o
	$(call say,LINK)
	$(call simgpu_link,-ldl)
$(SIMGPU_LIB)/libcuda.so: $(SIMGPU_LIB)/libcuda.so.1
	@ln -sf libcuda.so.1 $@

# name, sources, and its generated parts: exports in one version node, named as the real library's
define simgpu_library
$(SIMGPU_LIB)/$(1): $$(call simgpu_objects,$(2)) $(3:%=$(SIMGPU_GEN)/%) $(SIMGPU_LIB)/libcuda.so.1
	$$(call say,LINK)
	$$(call simgpu_link,$(4) -l:libcuda.so.1)
endef
$(eval $(call simgpu_library,libcudart.so.13,$(SIMGPU)/cudart/*.c,cudart_wrap.o cudart_stub.o,\
    -Xlinker --version-script=$(SIMGPU_GEN)/cudart.map))
$(eval $(call simgpu_library,libcupti.so.13,$(SIMGPU)/cupti/*.c,cupti_stub.o,\
    -Xlinker --version-script=$(SIMGPU_GEN)/cupti.map))
$(eval $(call simgpu_library,libcublas.so.13,$(SIMGPU)/math/math.c $(SIMGPU)/math/cublas.c,\
    cublas_auto.o cublas_stub.o,-Xlinker --version-script=$(SIMGPU_GEN)/cublas.map))
$(eval $(call simgpu_library,libcublasLt.so.13,$(SIMGPU)/math/math.c $(SIMGPU)/math/cublaslt.c,\
    cublasLt_stub.o,-Xlinker --version-script=$(SIMGPU_GEN)/cublasLt.map))
$(eval $(call simgpu_library,libcudnn.so.9,$(SIMGPU)/math/math.c $(SIMGPU)/math/cudnn.c,\
    cudnn_auto.o cudnn_stub.o,-Xlinker --version-script=$(SIMGPU_GEN)/cudnn.map))
$(eval $(call simgpu_library,libnccl.so.2,$(SIMGPU)/nccl/*.c,nccl_stub.o))
$(eval $(call simgpu_library,libnvidia-ml.so.1,$(SIMGPU)/nvml/*.c))

# ---- programs for its own tests, and for anybody's quick ones ----
SIMGPU_CLIENTS := $(patsubst $(SIMGPU)/%.c,$(SIMGPU_OUT)/%,$(wildcard $(SIMGPU)/client/*.c))
.SECONDARY: $(SIMGPU_CLIENTS:=.o)
$(SIMGPU_OUT)/client/%: $(SIMGPU_OUT)/client/%.o | $(SIMGPU_LIBS:%=$(SIMGPU_LIB)/%)
	$(call say,LINK)
	$(Q)$(CC) -o $@ $< -Wl,-rpath,'$$ORIGIN/../lib' -L$(SIMGPU_LIB) \
	    $(SIMGPU_LIBS:%=-l:%) -lpthread $(SAN)

# A CUPTI client for CUDA_INJECTION64_PATH.
$(SIMGPU_OUT)/observer.so: $(SIMGPU_OUT)/observer/observer.o $(SIMGPU_LIBS:%=$(SIMGPU_LIB)/%)
	$(call say,LINK)
	$(Q)$(CC) -shared -o $@ $< -Wl,-rpath,'$$ORIGIN/lib' -L$(SIMGPU_LIB) \
	    -l:libcupti.so.13 -l:libcuda.so.1
