/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where PyTorch keeps what the probes read, per version: offsets taken by compiling against each
 * wheel's own headers and then used live. For a version that was not measured the nearest one is
 * taken and the caller told so; torch_layout__fits_undefined decides whether it is believed.
 */
#ifndef PROFTRACE_TORCH_LAYOUT_H
#define PROFTRACE_TORCH_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "bpf/layout.h"
#include "bpf/probe_cfg.h"

struct torch_layout {
	unsigned int major, minor, last_minor; /* that it was measured on */
	struct pt_layout fields;	       /* pynode_vtable belongs to the process: 0 here */
	uint32_t constant_string;	       /* c10::ivalue::ConstantString: its std::string */
	uint32_t storage_size;		       /* StorageImpl: bytes */
	/* As torch.profiler writes them ("long int"), by ScalarType code, NULL-terminated; the last
	 * one, "", is ScalarType::Undefined. */
	const char *const *dtypes;
	size_t dtype_cnt;
};

/*
 * The layout for a version ("2.15.0+cu132"); *measured is false if that minor version was not
 * measured itself. Then the layout is the nearest version's, or the newest one's if the version
 * cannot be read. Never NULL.
 */
const struct torch_layout *torch_layout__find(const char *version, bool *measured);

/*
 * The nearest layout that explains the bytes of the undefined tensor (see fits_undefined); NULL if
 * none does: then no field of a tensor may be read.
 */
const struct torch_layout *torch_layout__fit(const char *version, const uint8_t *undefined);

/* The std::string that a mangled function with such a parameter was compiled with: PT_NAME_CXX11,
 * PT_NAME_COW, or PT_NAME_STATIC if it has none. */
enum pt_name_source torch_layout__string_abi(const char *symbol);

/* Bytes of an element by ScalarType code, PT_MAX_DTYPES of them; 0: unknown, or none of its own. */
void torch_layout__element_bytes(const struct torch_layout *l, uint8_t *bytes);

/* Enough of a TensorImpl for the checks below. */
enum { TORCH_IMPL_BYTES = 192 };

/* Could these bytes of a TensorImpl be a tensor? It has a known dtype, at most 64 dimensions, no
 * negative one, a device type and the given vtable (0: not checked). */
bool torch_layout__plausible(const struct torch_layout *l, const uint8_t *impl, uint64_t vtable);

/*
 * Are these bytes, read in the target at c10::UndefinedTensorImpl::_singleton (libc10.so,
 * `_ZN3c1019UndefinedTensorImpl10_singletonE`), the undefined tensor: one dimension of size 0 and a
 * dtype that no data has? A process shows it before any operator runs, whatever its version.
 */
bool torch_layout__fits_undefined(const struct torch_layout *l, const uint8_t *impl);

#endif
