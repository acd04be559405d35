/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Where the programs find data in the target's memory, per version of a framework and of Python.
 * The loader writes it. Shared by both sides. */
#ifndef PROFTRACE_LAYOUT_H
#define PROFTRACE_LAYOUT_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define PT_MAX_CLASSES 24

/* Where objects of a class have their name, a std::string. */
struct pt_class_name {
	__u64 vtable; /* runtime address, 0: end of the list */
	__u64 offset;
};

/* CPython, for Python functions: where to find the running code. For ranges also where the
 * function's first argument is, and in that object the range's name. */
struct pt_python {
	__u64 thread_at;	    /* runtime address of the pointer to the running thread's
				       state */
	__u64 begin_code, end_code; /* code objects of the functions; begin_code is also used for
				       a generator */
	__u64 name_key;		    /* str object: name of the attribute that has the range's
				       name */
	__u32 row;		    /* in the probe table */
	__u32 frame_code;	    /* _PyInterpreterFrame: PyCodeObject * */
	__u32 frame_locals;	    /* _PyInterpreterFrame: local variables, beginning with the
				       arguments */
	__u32 type_keys;	    /* PyHeapTypeObject: PyDictKeysObject * shared by its objects */
	__u32 attributes;	    /* enum pt_python_attributes */
	__u32 str_text;		    /* str object: bytes before non-ASCII characters */
};

/* Where an object has its attributes outside of a dict, or the pointer to its dict. */
enum pt_python_attributes {
	PT_ATTRIBUTES_BEFORE = 0, /* the pointer to them is four words before the object, the
				     dict's three words (3.11) */
	PT_ATTRIBUTES_TAGGED = 1, /* three words before the object: pointer to the dict, or with
				     bit 0 to them (3.12) */
	PT_ATTRIBUTES_BEHIND = 2, /* after the object; the pointer to the dict as in 3.11 (3.13) */
	PT_ATTRIBUTES_DICT = 3,	  /* in a dict; its type gives the offset of the pointer (3.10) */
};

/* CPython: a thread's own data, as offsets. Words of a frame have 8 bytes. */
#define PT_FRAME_WORDS 16 /* a power of two */

struct pt_python_thread {
	__u64 threads_at; /* runtime address of the pointer to the first thread state; 0: unknown */
	__u32 next;
	__u32 id;	  /* the C library's id of the thread */
	__u32 handled;	  /* pointer to information about the handled exception ... */
	__u32 exception;  /* ... which has a pointer to the exception */
	__u32 frame;	  /* pointer to the innermost frame, or ... */
	__u32 cframe;	  /* ... if 1: to a _PyCFrame that has that pointer at cframe_frame */
	__u32 cframe_frame;
	__u32 pad;
	__u64 stop_iteration; /* runtime address of the type StopIteration */
};

struct pt_python_stacks {
	__u32 wanted;	     /* the plan wants stacks of spans */
	__u32 frame_bytes;   /* bytes of a frame that are read */
	__u32 code_word, previous_word, instr_word, owner_word;
	__u32 function_word; /* word of the function object; PT_FRAME_WORDS: a frame has none */
	__u32 owner_shift;   /* in bits */
	__u32 other_owner;   /* frames with this owner or a higher one belong to the interpreter;
				256: none do */
	__u64 instr_mask;
	__u64 object_mask; /* mask of the pointer in the code and function words */
};

/* A data pipeline: operations, each with a queue of rows for the next operation. */
#define PT_CYCLE_SHIFT 20

struct pt_pipeline {
	__u32 operation_queue;	    /* queue * */
	__u32 operation_id;	    /* u32 */
	__u32 queue_capacity;	    /* u64 */
	__u32 queue_head;	    /* u64: number of rows taken ... */
	__u32 queue_tail;	    /* ... and put, after it; 0: all of these are unknown */
	__u32 ns_per_cycle_shifted; /* of the processor's counter, shifted by PT_CYCLE_SHIFT; 0:
				       unknown */
};

/* Callers that keep a pointer to a pointer to an object in a preserved register during the call.
 * The object has the called function's full name, a std::string (COW). */
#define PT_MAX_FULL_NAME_SITES 16

struct pt_full_name {
	struct pt_full_name_site {
		__u64 return_address; /* runtime address, 0: end of the list */
		__u32 reg;	      /* the processor's number: 3 rbx, 5 rbp, 12 to 15 */
	} sites[PT_MAX_FULL_NAME_SITES];
	__u32 text_at; /* offset in the object */
};

/* Offsets of fields in the target that the programs read, per framework version. */
#define PT_MAX_DTYPES 64 /* a power of two */

/* Two variables of the target. In a steady job each grows by the same amount per step; see
 * capture/arming/probeless.h. */
struct pt_counters {
	__u64 module; /* TLS module of the per-thread variable, 0: unknown */
	__u64 offset; /* in the module's TLS block */
	__u64 common; /* runtime address of the variable shared by all threads, 0: unknown */
};

struct pt_layout {
	__u32 tensor_sizes;	 /* TensorImpl: size_and_strides {u64 ndim; s64 dims[5] | s64 *} */
	__u32 tensor_dtype;	 /* u16 */
	__u32 tensor_device;	 /* s8 type, s8 index, s8 has */
	__u32 node_seq;		 /* Node: sequence number, 0 if unknown */
	__u32 node_pyobj;	 /* PyNode: PyObject * */
	__u32 record_function;	 /* PythonRecordFunction: RecordFunction */
	__u32 opt_tensor_flag;	 /* optional<Tensor>: the flag is after (8) or before (0) the
				    value */
	__u32 python_tensor;	 /* Python tensor object: its TensorImpl * */
	__u32 schema_args;	 /* OperatorDef: the schema's vector of arguments */
	__u32 argument_size;	 /* bytes of each argument; 0: unknown, so no tensors of boxed
				    calls */
	__u32 tensor_autograd;	 /* TensorImpl: AutogradMeta * */
	__u32 autograd_node;	 /* AutogradMeta: Node *; 0: unknown, so operators have no number */
	__u32 scalar_value;	 /* Scalar: u64, with its tag before it at 0; 0: unknown, so none
				    is read */
	__u32 scalar_bool;	 /* tag of a bool; in all versions 0 is double and 1 integer */
	__u32 ivalue_bool;	 /* tag of a bool in a boxed call, 0: unknown; 3 is double, 5
				    integer */
	__u32 list_values;	 /* in a list of a boxed call: its vector of IValues */
	__u32 python_long_tag;	 /* 1: Python's integers are as in 3.12 and later */
	__u32 python_str;	 /* str object: bytes before the text of compact ASCII, 0 if unknown */
	__u32 python_tuple;	 /* tuple object: its items */
	__u64 python_bool_type, python_float_type; /* runtime addresses; 0: unknown, so no values */
	__u64 python_tensor_type; /* runtime address of the tensors' base type, 0 if unknown */
	__u64 pynode_vtable;	  /* runtime address, 0 if unknown */
	__u8 element_bytes[PT_MAX_DTYPES]; /* by dtype; 0: unknown */
	struct pt_class_name class_names[PT_MAX_CLASSES];
	__u64 domain_class; /* first word of a domain object, see struct pt_probe_cfg */
	struct pt_python python;
	struct pt_pipeline pipeline;
	struct pt_full_name full_name;
	struct pt_python_thread python_thread;
	struct pt_python_stacks stacks;
	struct pt_counters counters;
};

#endif
