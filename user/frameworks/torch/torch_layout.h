/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where PyTorch keeps what the probes read, per version. The offsets were measured by compiling
 * against each wheel's headers. For a version that was not measured, the nearest one is used and
 * the caller is told. torch_layout__fits_undefined() decides whether to trust it.
 */
#ifndef PROFTRACE_TORCH_LAYOUT_H
#define PROFTRACE_TORCH_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "bpf/layout.h"
#include "bpf/probe_cfg.h"

struct torch_layout {
	unsigned int major, minor, last_minor; /* of the version that was measured */
	struct pt_layout fields;	       /* without pynode_vtable, which belongs to the
						  process: 0 here */
	uint32_t constant_string;	       /* offset of c10::ivalue::ConstantString's
						  std::string */
	uint32_t storage_size;		       /* offset of StorageImpl's bytes */
	/* Names as torch.profiler writes them ("long int"), by ScalarType code, NULL-terminated.
	 * The last one, "", is ScalarType::Undefined. */
	const char *const *dtypes;
	size_t dtype_cnt;
};

/*
 * The layout for a version ("2.15.0+cu132"). *measured is false if that minor version was not
 * measured. Then the layout is that of the nearest version, or of the newest one if the version
 * cannot be read. Never NULL.
 */
const struct torch_layout *torch_layout__find(const char *version, bool *measured);

/*
 * The nearest layout that fits the bytes of the undefined tensor (see fits_undefined). NULL if none
 * fits: then do not read any field of a tensor.
 */
const struct torch_layout *torch_layout__fit(const char *version, const uint8_t *undefined);

/* The kind of std::string that the parameter of a mangled function has: PT_NAME_CXX11, PT_NAME_COW,
 * or PT_NAME_STATIC if it has no such parameter. */
enum pt_name_source torch_layout__string_abi(const char *symbol);

/* Bytes of an element by ScalarType code, PT_MAX_DTYPES of them. 0: unknown, or not a whole
 * byte. */
void torch_layout__element_bytes(const struct torch_layout *l, uint8_t *bytes);

/* Bytes of a TensorImpl that the checks below need. */
enum { TORCH_IMPL_BYTES = 192 };

/* Could these bytes of a TensorImpl be a tensor? It needs a known dtype, at most 64 dimensions,
 * none negative, a device type, and the given vtable (0: not checked). */
bool torch_layout__plausible(const struct torch_layout *l, const uint8_t *impl, uint64_t vtable);

/*
 * Are these bytes the undefined tensor? They come from c10::UndefinedTensorImpl::_singleton in the
 * target (libc10.so, `_ZN3c1019UndefinedTensorImpl10_singletonE`). It has one dimension of size 0
 * and a dtype that no data has. A process of any version has it before any operator runs.
 */
bool torch_layout__fits_undefined(const struct torch_layout *l, const uint8_t *impl);

#endif
