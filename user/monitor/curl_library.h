/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads libcurl only where it is used, so proftrace itself does not need it. */
#ifndef PROFTRACE_CURL_LIBRARY_H
#define PROFTRACE_CURL_LIBRARY_H

#include <curl/curl.h>

struct curl_library {
	CURLcode (*global_init)(long flags);
	CURL *(*easy_init)(void);
	void (*easy_reset)(CURL *easy);
	CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
	CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
	const char *(*easy_strerror)(CURLcode code);
	CURLM *(*multi_init)(void);
	CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
	CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
	CURLMcode (*multi_perform)(CURLM *multi, int *running);
	CURLMcode (*multi_poll)(CURLM *multi, struct curl_waitfd extra[], unsigned int cnt, int timeout_ms,
				int *ready);
	CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
	struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
	void (*slist_free_all)(struct curl_slist *list);
};

/* 0, or -ENOENT with err__set: it is missing or too old. It stays loaded. */
int curl_library__load(struct curl_library *out);

/* The file with the certificates of authorities that this machine trusts: $SSL_CERT_FILE, or the first that is there
 * of the usual ones. The libcurl of the tarball knows Debian's alone. NULL: none is there; libcurl's own stays. */
const char *curl_library__certificates(void);

#endif
