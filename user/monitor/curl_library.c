// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/curl_library.h"
#include <dlfcn.h>
#include <errno.h>
#include "common/err.h"
#include "monitor/message_table.h"
#include "common/util.h"

static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

/* Debian and Alpine; Fedora and RHEL; openSUSE; older RHEL. */
static const char *const certificates[] = {
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"};

static const struct {
	const char *name;
	size_t at;
} functions[] = {
#define FUNCTION(name) {"curl_" #name, offsetof(struct curl_library, name)}
	FUNCTION(global_init),	 FUNCTION(easy_init),	     FUNCTION(easy_reset),
	FUNCTION(easy_setopt),	 FUNCTION(easy_getinfo),     FUNCTION(easy_strerror),
	FUNCTION(multi_init),	 FUNCTION(multi_add_handle), FUNCTION(multi_remove_handle),
	FUNCTION(multi_perform), FUNCTION(multi_poll),	     FUNCTION(multi_info_read),
	FUNCTION(slist_append),	 FUNCTION(slist_free_all),
#undef FUNCTION
};

int curl_library__load(struct curl_library *out)
{
	void *library = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(names) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return err__set(-ENOENT, MESSAGE_CURL_NOT_LOADED);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		void *function = dlsym(library, functions[i].name);

		if (!function)
			return err__set(-ENOENT, MESSAGE_CURL_TOO_OLD, functions[i].name);
		memcpy((char *)out + functions[i].at, &function, sizeof(function));
	}
	return 0;
}

const char *curl_library__certificates(void)
{
	const char *chosen = secure_getenv("SSL_CERT_FILE");

	if (chosen && chosen[0])
		return chosen;
	for (size_t i = 0; i < ARRAY_SIZE(certificates); i++)
		if (!access(certificates[i], R_OK))
			return certificates[i];
	return NULL;
}
