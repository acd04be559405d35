/* SPDX-License-Identifier: BSD-2-Clause */
/* Where things lie in a CPython interpreter: offsets within its structures, and its own addresses. */
#ifndef PROFTRACE_PYTHON_LAYOUT_H
#define PROFTRACE_PYTHON_LAYOUT_H

#include "bpf/layout.h"
#include "target/target.h"

/* Fields are named as in CPython's headers, or as what they lead to. */
struct python_layout {
	unsigned int minor;	   /* of version 3.x */
	uint32_t main_interpreter; /* _PyRuntimeState: PyInterpreterState * */
	uint32_t first_thread;	   /* PyInterpreterState: PyThreadState * */
	uint32_t file, function, first_line, lines, instructions; /* PyCodeObject */
	uint32_t code_bytes;			       /* of it, up to the instructions */
	uint64_t references; /* of an object's first word: what counts them */
	uint32_t ascii_bytes, compact_bytes;	       /* heads of str objects */
	uint32_t native_id; /* PyThreadState: what the kernel calls the thread, 0: not there */
	struct pt_python_thread thread;
	struct pt_python_stacks frames;
	/* Of objects that are looked for, and watched: */
	bool has_objects;      /* they are known */
	uint32_t modules;      /* PyInterpreterState */
	uint32_t lock;	       /* PyInterpreterState: pointer to its lock, 0: _PyRuntimeState has it */
	uint32_t current_thread; /* of that lock: its holder */
	uint32_t type_dict;	 /* PyTypeObject */
	uint32_t function_code;	 /* PyFunctionObject */
	uint32_t code_names;	 /* PyCodeObject */
	uint32_t code_object;	 /* so: pointer to a bytes object with the instructions, 0: they are in it */
	/* Of the attributes of objects. */
	uint32_t frame_locals; /* _PyInterpreterFrame, PyFrameObject before 3.11 */
	uint32_t attributes;   /* enum pt_python_attributes */
	uint32_t type_keys;    /* PyHeapTypeObject */
	/* Of the process: */
	const struct target_lib *lib; /* that has the interpreter */
	uint64_t runtime, interpreter; /* addresses of _PyRuntime, of the main interpreter */
};

/* 0, -ENOENT: the process has no interpreter with symbols; -ENOTSUP: of a version that is not known.
 * Then *layout is not written. */
int python_layout__of(struct target *t, struct python_layout *layout);

#endif
