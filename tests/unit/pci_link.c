// SPDX-License-Identifier: BSD-2-Clause
/* Links of devices, from a sysfs of the test's own. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "common/util.h"
#include "device/device_events.h"
#include "device/pci_link.h"

TestSuite(pci_link);

struct fake {
	char root[32];
	char device[96];
};

static struct fake fake_new(const char *address)
{
	static const char *const parents[] = {"bus", "bus/pci", "bus/pci/devices"};
	struct fake f = {.root = "/tmp/sysfs-XXXXXX"};

	cr_assert_not_null(mkdtemp(f.root));
	for (size_t i = 0; i < ARRAY_SIZE(parents); i++) {
		snprintf(f.device, sizeof(f.device), "%s/%s", f.root, parents[i]);
		cr_assert_eq(mkdir(f.device, 0755), 0);
	}
	snprintf(f.device, sizeof(f.device), "%s/bus/pci/devices/%s", f.root, address);
	cr_assert_eq(mkdir(f.device, 0755), 0);
	return f;
}

static void put(const struct fake *f, const char *name, const char *text)
{
	char path[128];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", f->device, name);
	out = fopen(path, "w");
	cr_assert_not_null(out);
	fprintf(out, "%s\n", text);
	fclose(out);
}

static void put_link(const struct fake *f, const char *vendor, const char *speed, const char *width)
{
	put(f, "vendor", vendor);
	put(f, "current_link_speed", speed);
	put(f, "current_link_width", width);
	put(f, "max_link_speed", "32.0 GT/s PCIe");
	put(f, "max_link_width", "16");
}

static void fake_free(struct fake *f)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", f->root);
	cr_expect_eq(system(command), 0);
}

Test(pci_link, address_of_a_device)
{
	char text[PCI_ADDRESS_MAX];

	pci_address(0, 0x18, 0, text);
	cr_expect_str_eq(text, "0000:18:00.0");
	pci_address(0x10000, 0xff, 0x1f, text);
	cr_expect_str_eq(text, "10000:ff:1f.0");
}

Test(pci_link, speed_and_width_now_and_at_most)
{
	struct fake f = fake_new("0000:18:00.0");
	struct pci_link link;

	put_link(&f, "0x10de", "16.0 GT/s PCIe", "8");
	cr_assert_eq(pci_link__read(f.root, "0000:18:00.0", &link), 0);
	cr_expect_eq(link.mts, 16000);
	cr_expect_eq(link.width, 8);
	cr_expect_eq(link.max_mts, 32000);
	cr_expect_eq(link.max_width, 16);
	put(&f, "current_link_speed", "2.5 GT/s PCIe");
	cr_assert_eq(pci_link__read(f.root, "0000:18:00.0", &link), 0);
	cr_expect_eq(link.mts, 2500);
	fake_free(&f);
}

Test(pci_link, what_is_not_known_is_not_made_up)
{
	struct fake f = fake_new("0000:18:00.0");
	struct pci_link link = {.mts = 1};

	cr_expect_eq(pci_link__read(f.root, "0000:19:00.0", &link), -ENOENT, "no such device");
	cr_expect_eq(link.mts, 0);
	put_link(&f, "0x1af4", "16.0 GT/s PCIe", "16");
	cr_expect_eq(pci_link__read(f.root, "0000:18:00.0", &link), -ENOENT, "another's device");
	put_link(&f, "0x10de", "Unknown", "16");
	cr_expect_eq(pci_link__read(f.root, "0000:18:00.0", &link), -ENOENT, "unknown speed");
	cr_expect_eq(link.width, 0);
	fake_free(&f);
}

/* The address is the device's own, or is not there. */
Test(pci_link, address_in_the_summary_of_a_recording)
{
	const struct shim_device known = {.h = {.kind = SHIM_REC_DEVICE},
					  .device = 0,
					  .has_pci = 1,
					  .pci_domain = 0xfffe,
					  .pci_bus = 0x18,
					  .name = "GPU"};
	const struct shim_device unknown = {
		.h = {.kind = SHIM_REC_DEVICE}, .device = 1, .name = "GPU"};
	struct device_events *d = device_events__new(1, NULL);
	json_t *summary = json_object(), *devices;

	cr_assert_not_null(d);
	cr_assert_eq(device_events__device(d, &known), 0);
	cr_assert_eq(device_events__device(d, &unknown), 0);
	cr_assert_eq(device_events__summary(d, summary), 0);
	devices = json_object_get(summary, "devices");
	cr_expect_str_eq(json_string_value(json_object_get(json_array_get(devices, 0), "pci")),
			 "fffe:18:00.0");
	cr_expect_null(json_object_get(json_array_get(devices, 0), "link_mts"), "there is none");
	cr_expect_null(json_object_get(json_array_get(devices, 1), "pci"));
	json_decref(summary);
	device_events__free(d);
}
