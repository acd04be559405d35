# SPDX-License-Identifier: BSD-2-Clause
# make simgpu        a simulated CUDA stack in $(BUILD)/simgpu, on which real PyTorch runs
# make simgpu-test   its own tests, in seconds and without PyTorch
#
# It is made from the headers and libraries that PyTorch's wheels bring: SIMGPU_PYTHON is a Python
# that has them. With CUDA=12 or CUDA=11 in build/simgpu/12 or /11 what programs of that major load, from the
# nvidia-*-cu12 or -cu11 wheels of SIMGPU_PYTHON; its driver and NVML are those of 13. See tests/simgpu/README.md.

CUDA       ?= 13
SIMGPU     := tests/simgpu
SIMGPU_13  := $(BUILD)/simgpu
SIMGPU_OUT := $(SIMGPU_13)$(if $(filter-out 13,$(CUDA)),/$(CUDA))
SIMGPU_GEN := $(SIMGPU_OUT)/gen
SIMGPU_LIB := $(SIMGPU_OUT)/lib

SIMGPU_PYTHON ?= $(shell scripts/torch-python)

# What the wheels call their libraries, with the version of each.
simgpu_wheel = $(notdir $(wildcard $(SIMGPU_OUT)/wheels/$(1)/lib/$(2).so.*))

ifeq ($(CUDA),13)
SIMGPU_CUDART := libcudart.so.13
SIMGPU_CUPTI  := libcupti.so.13
SIMGPU_MATH   := libcublas.so.13 libcublasLt.so.13 libcudnn.so.9
SIMGPU_NCCL   := libnccl.so.2
else
SIMGPU_CUDART := $(call simgpu_wheel,cuda_runtime,libcudart)
SIMGPU_CUPTI  := $(call simgpu_wheel,cuda_cupti,libcupti)
SIMGPU_MATH   := $(call simgpu_wheel,cublas,libcublas) $(call simgpu_wheel,cublas,libcublasLt) \
                 $(call simgpu_wheel,cudnn,libcudnn) $(foreach l,curand cusparse cusolver cufft,$(call simgpu_wheel,$(l),lib$(l)))
SIMGPU_NCCL   := $(call simgpu_wheel,nccl,libnccl)
endif

SIMGPU_LIBS := libcuda.so.1 $(SIMGPU_CUDART) $(SIMGPU_CUPTI)
SIMGPU_MORE_LIBS := $(SIMGPU_MATH) $(SIMGPU_NCCL) libnvidia-ml.so.1
SIMGPU_CFLAGS = -std=gnu17 -D_GNU_SOURCE -O2 -g -fPIC -Wall -Wextra -Werror -Wno-unused-parameter \
                -Wno-missing-field-initializers -I$(SIMGPU) -I$(SIMGPU_GEN) -I$(SIMGPU_13)/gen \
                $(SIMGPU_INCLUDE) -isystem $(SIMGPU_13)/include $(SAN)
SIMGPU_INCLUDE = -isystem $(SIMGPU_OUT)/include
# An older CUPTI's records begin as today's do: written with the newest headers, and cut off.
$(SIMGPU_OUT)/cupti/%.o: SIMGPU_INCLUDE =
SIMGPU_GENERATED := $(addprefix $(SIMGPU_GEN)/,cuda_wrap cuda_stub cudart_wrap cudart_stub cupti_stub \
                    cublas_auto cublas_stub cublasLt_stub cudnn_auto cudnn_stub nccl_stub \
                    curand_stub cusparse_stub cusolver_stub cufft_stub)
SIMGPU_LDFLAGS := $(if $(SAN),,-Wl,-z,defs) -Wl,-rpath,'$$ORIGIN' -L$(SIMGPU_LIB) -lpthread $(SAN)

.PHONY: simgpu simgpu-test
simgpu: $(SIMGPU_OUT)/ready
	@$(MAKE) --no-print-directory simgpu-libraries
	$(Q)$(SIMGPU)/deploy/farm --if-needed $(SIMGPU_PYTHON) $(SIMGPU_OUT) $(SIMGPU_OUT)/venv

.PHONY: simgpu-libraries
simgpu-libraries: $(SIMGPU_LIBS:%=$(SIMGPU_LIB)/%) $(SIMGPU_MORE_LIBS:%=$(SIMGPU_LIB)/%) $(SIMGPU_LIB)/libcuda.so \
                  $(if $(filter 13,$(CUDA)),simgpu-programs,simgpu-names)

# Paddle opens them by these.
.PHONY: simgpu-names
simgpu-names: $(SIMGPU_LIBS:%=$(SIMGPU_LIB)/%) $(SIMGPU_MORE_LIBS:%=$(SIMGPU_LIB)/%)
	@cd $(SIMGPU_LIB) && for library in *.so.*; do ln -sf $$library $${library%.so.*}.so; done

simgpu-test: simgpu
	$(SIMGPU)/client/run $(SIMGPU_OUT)

# The vendor's headers under one folder, and what is generated from them; anew where these wheels are gone. Of 11
# and 12 each time: their wheels are now one framework's, now another's.
$(SIMGPU_OUT)/ready: $(SIMGPU)/generate.py $(SIMGPU)/wheels $(wildcard $(SIMGPU)/*/*.c) \
                     $(if $(wildcard $(SIMGPU_OUT)/wheels/.),,FORCE) $(if $(filter-out 13,$(CUDA)),FORCE simgpu-13)
	$(call say,GEN)
	@mkdir -p $(SIMGPU_LIB) $(SIMGPU_OUT)/client
	$(Q)$(SIMGPU)/wheels $(SIMGPU_PYTHON) $(SIMGPU_OUT) $(CUDA)
	$(Q)python3 $(SIMGPU)/generate.py $(SIMGPU_OUT)/wheels $(SIMGPU_GEN) $(CUDA) $(if $(V),,>/dev/null)
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

ifeq ($(CUDA),13)
$(SIMGPU_LIB)/libcuda.so.1: $(call simgpu_objects,$(SIMGPU)/engine/*.c $(SIMGPU)/driver/*.c) \
                            $(SIMGPU_GEN)/cuda_wrap.o $(SIMGPU_GEN)/cuda_stub.o
	$(call say,LINK)
	$(call simgpu_link,-ldl)
else
.PHONY: simgpu-13
simgpu-13:
	@$(MAKE) --no-print-directory CUDA=13 \
	    SIMGPU_PYTHON=$$(env -u PYTHON -u TORCH_VERSION -u BASE_PYTHON scripts/torch-python) simgpu
$(SIMGPU_LIB)/libcuda.so.1 $(SIMGPU_LIB)/libnvidia-ml.so.1:
	@ln -sf $(abspath $(SIMGPU_13))/lib/$(@F) $@
endif
$(SIMGPU_LIB)/libcuda.so: $(SIMGPU_LIB)/libcuda.so.1
	@ln -sf libcuda.so.1 $@

# name, sources, and its generated parts: exports in one version node, named as the real library's
define simgpu_library
$(if $(1),
$(SIMGPU_LIB)/$(strip $(1)): $$(call simgpu_objects,$(2)) $(3:%=$(SIMGPU_GEN)/%) $(SIMGPU_LIB)/libcuda.so.1
	$$(call say,LINK)
	$$(call simgpu_link,$(4) -l:libcuda.so.1)
)
endef
simgpu_map = -Xlinker --version-script=$(SIMGPU_GEN)/$(1).map
# Those of one source of the same name: cuBLAS and the like.
define simgpu_math
$(call simgpu_library,$(filter lib$(1).so.%,$(SIMGPU_MATH)),$(SIMGPU)/math/math.c $(2:%=$(SIMGPU)/math/%.c),\
    $(3) $(1)_stub.o,$(call simgpu_map,$(1)))
endef
$(eval $(call simgpu_library,$(SIMGPU_CUDART),$(SIMGPU)/cudart/*.c,cudart_wrap.o cudart_stub.o,$(call simgpu_map,cudart)))
$(eval $(call simgpu_library,$(SIMGPU_CUPTI),$(SIMGPU)/cupti/*.c,cupti_stub.o,$(call simgpu_map,cupti)))
$(eval $(call simgpu_math,cublas,cublas,cublas_auto.o))
$(eval $(call simgpu_math,cublasLt,cublaslt))
$(eval $(call simgpu_math,cudnn,cudnn cudnn_algorithms cudnn_tensors,cudnn_auto.o))
$(foreach l,curand cusparse cusolver cufft,$(eval $(call simgpu_math,$(l),$(l))))
$(eval $(call simgpu_library,$(SIMGPU_NCCL),$(SIMGPU)/nccl/*.c,nccl_stub.o))
ifeq ($(CUDA),13)
$(eval $(call simgpu_library,libnvidia-ml.so.1,$(SIMGPU)/nvml/*.c))
endif

# ---- programs for its own tests, and for anybody's quick ones ----
ifeq ($(CUDA),13)
SIMGPU_CLIENTS := $(patsubst $(SIMGPU)/%.c,$(SIMGPU_OUT)/%,$(wildcard $(SIMGPU)/client/*.c))
endif
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
.PHONY: simgpu-programs
simgpu-programs: $(SIMGPU_CLIENTS) $(SIMGPU_OUT)/observer.so
