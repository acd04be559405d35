# SPDX-License-Identifier: BSD-2-Clause
# make simgpu            simulated CUDA stacks in $(BUILD)/simgpu/13, /12 and /11, on which real frameworks run
# make simgpu CUDA=11    one of them
# make simgpu-test       their own tests, in seconds and without a framework
#
# They are made from the headers and libraries that wheels bring. 13 is always made, from those of PyTorch: SIMGPU_PYTHON
# is a Python that has them. 12 and 11 are made if the user's cache has their nvidia-*-cu12 or -cu11 wheels; with CUDA=12
# or CUDA=11 from those of SIMGPU_PYTHON. Their driver and NVML are those of 13. See tests/simgpu/README.md.

SIMGPU_MAJORS := $(if $(CUDA),,all)
CUDA       ?= 13
SIMGPU     := tests/simgpu
SIMGPU_13  := $(BUILD)/simgpu/13
SIMGPU_OUT := $(BUILD)/simgpu/$(CUDA)
SIMGPU_GEN := $(SIMGPU_OUT)/gen
SIMGPU_LIB := $(SIMGPU_OUT)/lib

# Of 11 and 12 there may be several, with wheels of the same versions.
# SIMGPU_13_PYTHON is that of 13 in any case.
SIMGPU_PYTHON ?= $(if $(filter 13,$(CUDA)),$(shell scripts/torch-python),$(shell $(SIMGPU)/at_hand $(CUDA)))
SIMGPU_13_PYTHON = $(if $(filter 13,$(CUDA)),$(SIMGPU_PYTHON),\
                     $(shell env -u PYTHON -u TORCH_VERSION -u BASE_PYTHON scripts/torch-python))

# What the wheels call their libraries, with the version of each.
simgpu_wheel = $(notdir $(wildcard $(SIMGPU_OUT)/wheels/$(1)/lib/$(2).so.*))

ifeq ($(CUDA),13)
SIMGPU_CUDART := libcudart.so.13
SIMGPU_CUPTI  := libcupti.so.13
SIMGPU_MATH   := libcublas.so.13 libcublasLt.so.13 libcudnn.so.9 \
                 $(foreach l,curand cusparse cusolver cufft,$(call simgpu_wheel,cu13,lib$(l)))
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

.PHONY: simgpu simgpu-13 simgpu-test
ifeq ($(SIMGPU_MAJORS),all)
simgpu: simgpu-13
	@for major in 12 11; do \
	    pythons=$$($(SIMGPU)/at_hand $$major) || exit; \
	    [ -z "$$pythons" ] || $(SIMGPU)/major "$(MAKE)" $(BUILD) $$major $$pythons || exit; \
	done
else ifeq ($(CUDA),13)
simgpu: simgpu-13
else
simgpu: simgpu-13
	@$(SIMGPU)/major "$(MAKE)" $(BUILD) $(CUDA) $(SIMGPU_PYTHON)
endif
simgpu-13:
	@$(SIMGPU)/major "$(MAKE)" $(BUILD) 13 $(SIMGPU_13_PYTHON)

.PHONY: simgpu-libraries
simgpu-libraries: $(SIMGPU_LIBS:%=$(SIMGPU_LIB)/%) $(SIMGPU_MORE_LIBS:%=$(SIMGPU_LIB)/%) $(SIMGPU_LIB)/libcuda.so \
                  simgpu-programs $(if $(filter-out 13,$(CUDA)),simgpu-names)

# Paddle opens them by these.
.PHONY: simgpu-names
simgpu-names: $(SIMGPU_LIBS:%=$(SIMGPU_LIB)/%) $(SIMGPU_MORE_LIBS:%=$(SIMGPU_LIB)/%)
	@cd $(SIMGPU_LIB) && for library in *.so.*; do ln -sf $$library $${library%.so.*}.so; done

simgpu-test: simgpu
	$(SIMGPU)/client/run_libraries $(if $(SIMGPU_MAJORS),$(BUILD)/simgpu/1[123],$(SIMGPU_OUT))
	$(if $(filter 13,$(CUDA)),$(SIMGPU)/client/run $(SIMGPU_OUT))

# The vendor's headers under one folder, and what is generated from them; anew where these wheels are gone.
$(SIMGPU_OUT)/ready: $(SIMGPU)/generate.py $(SIMGPU)/wheels $(wildcard $(SIMGPU)/*/*.c) \
                     $(if $(wildcard $(SIMGPU_OUT)/wheels/.),,FORCE)
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
SIMGPU_CLIENTS := $(patsubst $(SIMGPU)/%.c,$(SIMGPU_OUT)/%,$(if $(filter 13,$(CUDA)),$(wildcard $(SIMGPU)/client/*.c), \
    $(SIMGPU)/client/libraries.c))
.SECONDARY: $(SIMGPU_CLIENTS:=.o)
$(SIMGPU_OUT)/client/libraries: SIMGPU_LIBS += $(SIMGPU_MATH) $(SIMGPU_NCCL)
$(SIMGPU_OUT)/client/libraries: $(SIMGPU_MORE_LIBS:%=$(SIMGPU_LIB)/%)
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
simgpu-programs: $(SIMGPU_CLIENTS) $(if $(filter 13,$(CUDA)),$(SIMGPU_OUT)/observer.so)
