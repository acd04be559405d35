/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Where the programs find things in the target's memory, per version of a framework and of Python;
 * written by the loader. Shared by both sides. */
#ifndef PROFTRACE_LAYOUT_H
#define PROFTRACE_LAYOUT_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define PT_MAX_CLASSES 24

/* Where the objects of a class have their name, a std::string. */
struct pt_class_name {
	__u64 vtable; /* runtime address, 0: end of the list */
	__u64 offset;
};

/* CPython, for functions written in Python: what is executed. For ranges, also where the function has
 * its first argument, and in that object the range's name. */
struct pt_python {
	__u64 thread_at;	    /* runtime address of a pointer: the thread state that runs */
	__u64 begin_code, end_code; /* code objects of the functions; a generator is begin_code */
	__u64 name_key;		    /* str object: the attribute with the name */
	__u32 row;		    /* of the probe table */
	__u32 frame_code;	    /* _PyInterpreterFrame: PyCodeObject * */
	__u32 frame_locals;	    /* _PyInterpreterFrame: its arguments come first */
	__u32 type_keys;	    /* PyHeapTypeObject: PyDictKeysObject * of its objects */
	__u32 attributes;	    /* enum pt_python_attributes */
	__u32 str_text;		    /* bytes of a str object before characters that are not ASCII */
};

/* Where an object's attributes are, if they are not in a dict; or where its dict is. */
enum pt_python_attributes {
	PT_ATTRIBUTES_BEFORE = 0, /* a pointer to them four words before it, the dict's is three before (3.11) */
	PT_ATTRIBUTES_TAGGED = 1, /* three words before it: to the dict, or with bit 0 to them (3.12) */
	PT_ATTRIBUTES_BEHIND = 2, /* behind it, and the dict's as in 3.11 (3.13) */
	PT_ATTRIBUTES_DICT = 3,	  /* in a dict; where in the object it is, its type tells (3.10) */
};

/* CPython: where a thread's own things lie. Offsets; words of a frame are counted by 8 bytes. */
#define PT_FRAME_WORDS 16 /* a power of two */

struct pt_python_thread {
	__u64 threads_at; /* runtime address of a pointer to the first thread state; 0: not known */
	__u32 next;
	__u32 id;	  /* what the C library calls the thread */
	__u32 handled;	  /* pointer to what is known of the exception being handled ... */
	__u32 exception;  /* ... which has a pointer to it */
	__u32 frame;	  /* pointer to the innermost frame, or ... */
	__u32 cframe;	  /* ... 1: to a _PyCFrame that has it at cframe_frame */
	__u32 cframe_frame;
	__u32 pad;
	__u64 stop_iteration; /* runtime address of the type StopIteration */
};

struct pt_python_stacks {
	__u32 wanted;	     /* by the plan: spans have stacks */
	__u32 frame_bytes;   /* of a frame that are read */
	__u32 code_word, previous_word, instr_word, owner_word;
	__u32 function_word; /* the function object; PT_FRAME_WORDS: it has none */
	__u32 owner_shift;   /* bits */
	__u32 other_owner;   /* frames of this owner or a higher one are the interpreter's; 256: none */
	__u64 instr_mask;
	__u64 object_mask; /* of the code and function words: what is the pointer in them */
};

/* A data pipeline: operations, each with a queue of the rows that the next one takes. */
#define PT_CYCLE_SHIFT 20

struct pt_pipeline {
	__u32 operation_queue;	    /* queue * */
	__u32 operation_id;	    /* u32 */
	__u32 queue_capacity;	    /* u64 */
	__u32 queue_head;	    /* u64: rows taken so far ... */
	__u32 queue_tail;	    /* ... and put, behind it; 0: none of these is known */
	__u32 ns_per_cycle_shifted; /* of the processor's counter, by PT_CYCLE_SHIFT; 0: unknown */
};

/* Callers that keep a pointer to a pointer to an object across the call, in a callee-saved
 * register. The object has the full name of what is called, a std::string (COW). */
#define PT_MAX_FULL_NAME_SITES 16

struct pt_full_name {
	struct pt_full_name_site {
		__u64 return_address; /* runtime address, 0: end of the list */
		__u32 reg;	      /* by the processor's numbers: 3 rbx, 5 rbp, 12 to 15 */
	} sites[PT_MAX_FULL_NAME_SITES];
	__u32 text_at; /* in the object */
};

/* Offsets of the fields that the programs read in the target, per framework version. */
#define PT_MAX_DTYPES 64 /* a power of two */

/* Two variables of the target. In a steady job each grows equally in every step; see
 * capture/arming/probeless.h. */
struct pt_counters {
	__u64 module; /* TLS module of the variable that each thread has, 0: unknown */
	__u64 offset; /* in that module's TLS block */
	__u64 common; /* runtime address of the variable that all threads share, 0: unknown */
};

struct pt_layout {
	__u32 tensor_sizes;	 /* TensorImpl: size_and_strides {u64 ndim; s64 dims[5] | s64 *} */
	__u32 tensor_dtype;	 /* u16 */
	__u32 tensor_device;	 /* s8 type, s8 index, s8 has */
	__u32 node_seq;		 /* Node: sequence number, 0 if unknown */
	__u32 node_pyobj;	 /* PyNode: PyObject * */
	__u32 record_function;	 /* PythonRecordFunction: RecordFunction */
	__u32 opt_tensor_flag;	 /* optional<Tensor>: flag after (8) or before (0) the value */
	__u32 python_tensor;	 /* Python tensor object: its TensorImpl * */
	__u32 schema_args;	 /* OperatorDef: the schema's vector of arguments */
	__u32 argument_size;	 /* bytes of each, 0 if unknown: no tensors of boxed calls */
	__u32 tensor_autograd;	 /* TensorImpl: AutogradMeta * */
	__u32 autograd_node;	 /* AutogradMeta: Node *, 0 if unknown: operators have no number */
	__u32 scalar_value;	 /* Scalar: u64, its tag before it at 0; 0 if unknown: none is read */
	__u32 scalar_bool;	 /* tag of a bool; 0 double and 1 integer in all versions */
	__u32 ivalue_bool;	 /* tag of a bool in a boxed call, 0 if unknown; 3 double, 5 integer */
	__u32 list_values;	 /* of a list in a boxed call: its vector of IValues */
	__u32 python_long_tag;	 /* Python's integers: 1: as from 3.12 on */
	__u32 python_str;	 /* str object: bytes before the text of compact ASCII, 0 if unknown */
	__u32 python_tuple;	 /* tuple object: its items */
	__u64 python_bool_type, python_float_type; /* runtime addresses, 0 if unknown: no values */
	__u64 python_tensor_type; /* runtime address of the tensors' base type, 0 if unknown */
	__u64 pynode_vtable;	  /* runtime address, 0 if unknown */
	__u8 element_bytes[PT_MAX_DTYPES]; /* by dtype, 0 if unknown */
	struct pt_class_name class_names[PT_MAX_CLASSES];
	__u64 domain_class; /* the first word of an object that is a domain, see struct pt_probe_cfg */
	struct pt_python python;
	struct pt_pipeline pipeline;
	struct pt_full_name full_name;
	struct pt_python_thread python_thread;
	struct pt_python_stacks stacks;
	struct pt_counters counters;
};

#endif
