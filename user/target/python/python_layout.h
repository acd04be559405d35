/* SPDX-License-Identifier: BSD-2-Clause */
/* Offsets in a CPython interpreter's structures, and its own addresses. */
#ifndef PROFTRACE_PYTHON_LAYOUT_H
#define PROFTRACE_PYTHON_LAYOUT_H

#include "bpf/layout.h"
#include "target/target.h"

/* Fields have the names of CPython's headers, or the name of what they point to. */
struct python_layout {
	unsigned int minor;	   /* the x of version 3.x */
	uint32_t main_interpreter; /* _PyRuntimeState: PyInterpreterState * */
	uint32_t first_thread;	   /* PyInterpreterState: PyThreadState * */
	uint32_t file, function, first_line, lines, instructions; /* PyCodeObject */
	uint32_t code_bytes;			       /* bytes of it before the instructions */
	uint64_t references; /* mask of the reference count in an object's first word */
	uint32_t ascii_bytes, compact_bytes;	       /* heads of str objects */
	uint32_t native_id; /* PyThreadState: the kernel's thread id, 0: there is none */
	struct pt_python_thread thread;
	struct pt_python_stacks frames;
	/* For objects that are searched and watched: */
	bool has_objects;      /* these offsets are known */
	uint32_t modules;      /* PyInterpreterState */
	uint32_t lock;	       /* PyInterpreterState: pointer to its lock; 0: _PyRuntimeState has
				  the lock */
	uint32_t current_thread; /* in that lock: the holder */
	uint32_t type_dict;	 /* PyTypeObject */
	uint32_t function_code;	 /* PyFunctionObject */
	uint32_t code_names;	 /* PyCodeObject */
	uint32_t code_object;	 /* if not 0: offset of a pointer to a bytes object with the
				    instructions; 0: the code object contains them */
	/* For attributes of objects: */
	uint32_t frame_locals; /* _PyInterpreterFrame, PyFrameObject before 3.11 */
	uint32_t attributes;   /* enum pt_python_attributes */
	uint32_t type_keys;    /* PyHeapTypeObject */
	/* For the process: */
	const struct target_lib *lib; /* the library with the interpreter */
	uint64_t runtime, interpreter; /* addresses of _PyRuntime, of the main interpreter */
};

/* 0, -ENOENT: the process has no interpreter with symbols; -ENOTSUP: its version is unknown. After
 * an error *layout is unchanged. */
int python_layout__of(struct target *t, struct python_layout *layout);

#endif
