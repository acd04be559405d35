/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Names that are longer than threads and records hold (struct pt_name). Each text is kept once,
 * under a hash of all of it; the loader reads it and may take it out. Shared by both sides.
 */
#ifndef PROFTRACE_LONG_NAMES_H
#define PROFTRACE_LONG_NAMES_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define PT_WHOLE_NAME	4096 /* bytes of a name that are kept, without NUL */
#define PT_WHOLE_DOMAIN 3840 /* and of the domain before it */
#define PT_LONG_TEXT	8064 /* room for both; also for as many bytes of wide characters */
#define PT_LONG_NAMES	4096 /* texts that are kept until the loader takes them out */

/* Keys that are no hash. */
enum pt_name_key {
	PT_KEY_NONE = 0,   /* the name is not long */
	PT_KEY_UNREAD = 1, /* its text could not be read a second time */
	PT_KEY_FULL = 2,   /* there was no room for it */
	PT_KEY_FIRST = 8,
};

struct pt_long_name {
	__u32 domain_len; /* bytes of the domain, which comes first; 0: none */
	__u32 len;	  /* bytes of the name */
	__u8 kind;	  /* bytes of each of its characters, as a str object has them; 0: UTF-8 */
	__u8 is_cut;	  /* there was more of it */
	__u8 is_read;	  /* the text is there */
	__u8 pad[5];
	char text[PT_LONG_TEXT];
};

#endif
