/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* PCI classes, and who makes the graphics of a server's console, which has a
 * display of class VGA on nearly every board (pci.ids: ASPEED, Matrox). */
#define BASE_DISPLAY 0x03
#define BASE_ACCELERATOR 0x12
#define VGA 0x0300
#define ASPEED 0x1a03
#define MATROX 0x102b

/* A device and where it is plugged in. */
struct pci_device {
	hwloc_obj_t device; /* that of its driver, or pci itself */
	hwloc_obj_t pci;
	unsigned long address;
};

static unsigned long address_of(hwloc_obj_t pci)
{
	const struct hwloc_pcidev_attr_s *a = &pci->attr->pcidev;

	return (unsigned long)a->domain << 16 | (unsigned long)a->bus << 8 |
	       (unsigned long)a->dev << 3 | a->func;
}

static bool is_gpu(hwloc_obj_t pci)
{
	const struct hwloc_pcidev_attr_s *a = &pci->attr->pcidev;
	int base = a->class_id >> 8;

	if (a->class_id == VGA &&
	    (a->vendor_id == ASPEED || a->vendor_id == MATROX))
		return false;
	return base == BASE_DISPLAY || base == BASE_ACCELERATOR;
}

static CPL_SORT_BY(by_address, struct pci_device, CPL_UP(address),
                   CPL_UP(device->logical_index))

/* Where there are accelerators without a display, a VGA device of another
 * vendor is the console's. */
static int drop_consoles(struct pci_device *gpu, int n)
{
	int kept = 0;

	for (int i = 0; i < n; i++) {
		const struct hwloc_pcidev_attr_s *a = &gpu[i].pci->attr->pcidev;
		bool others = false, same = false;

		for (int j = 0; j < n; j++) {
			const struct hwloc_pcidev_attr_s *b =
			        &gpu[j].pci->attr->pcidev;

			if (b->class_id == VGA)
				continue;
			others = true;
			same |= a->vendor_id == b->vendor_id;
		}
		if (a->class_id != VGA || !others || same)
			gpu[kept++] = gpu[i];
	}
	return kept;
}

static int find_gpus(hwloc_topology_t topology, struct pci_device *gpu)
{
	hwloc_obj_t pci = NULL;
	int n = 0;

	while ((pci = hwloc_get_next_pcidev(topology, pci)))
		if (is_gpu(pci))
			gpu[n++] =
			        (struct pci_device){pci, pci, address_of(pci)};
	n = drop_consoles(gpu, n);
	qsort(gpu, (size_t)n, sizeof(*gpu), by_address);
	return n;
}

/* A port that is not up (the kernel's state 4) carries nothing. */
static bool is_down(hwloc_obj_t device)
{
	const char *state = hwloc_obj_get_info_by_name(device, "Port1State");

	return state && strcmp(state, "4") != 0;
}

/* Adapters are devices of verbs (mlx5_0); only where a node has none of these
 * are they network interfaces (hsn0). */
static int find_nics(hwloc_topology_t topology, bool up, struct pci_device *nic)
{
	static const hwloc_obj_osdev_type_t kind[] = {
	        HWLOC_OBJ_OSDEV_OPENFABRICS, HWLOC_OBJ_OSDEV_NETWORK};
	int n = 0;

	for (int k = 0; k < 2 && !n; k++) {
		hwloc_obj_t device = NULL;

		while ((device = hwloc_get_next_osdev(topology, device))) {
			hwloc_obj_t pci = device->parent;

			if (device->attr->osdev.type == kind[k] &&
			    device->name && pci &&
			    pci->type == HWLOC_OBJ_PCI_DEVICE &&
			    (!up || !is_down(device)))
				nic[n++] = (struct pci_device){device, pci,
				                               address_of(pci)};
		}
	}
	qsort(nic, (size_t)n, sizeof(*nic), by_address);
	return n;
}

static bool is_below(hwloc_obj_t object, hwloc_obj_t top)
{
	while (object && object != top)
		object = object->parent;
	return object != NULL;
}

/* Sets the NIC of each GPU. near[g] is the lowest object above it that has a
 * NIC, too. */
static void choose_nics(const struct pci_device *gpu,
                        const struct pci_device *nic, struct cpl_devices *out,
                        hwloc_obj_t *near)
{
	for (int g = 0; g < out->n_gpus; g++) {
		int turn = 0, n = 0, which = -1;

		for (near[g] = gpu[g].pci->parent; near[g] && !n;) {
			for (int i = 0; i < out->n_nics; i++)
				n += is_below(nic[i].pci, near[g]);
			if (!n)
				near[g] = near[g]->parent;
		}
		for (int before = 0; before < g; before++)
			turn += near[before] == near[g];
		for (int i = 0; n && i < out->n_nics; i++)
			if (is_below(nic[i].pci, near[g]) &&
			    ++which == turn % n)
				out->gpu[g].nic = i;
	}
}

static int fill(const struct pci_device *gpu, const struct pci_device *nic,
                struct cpl_devices *out, struct cpl_error *err)
{
	out->gpu = calloc((size_t)out->n_gpus + 1, sizeof(*out->gpu));
	out->nic = calloc((size_t)out->n_nics + 1, sizeof(*out->nic));
	if (!out->gpu || !out->nic)
		return cpl_fail_memory(err);
	out->verbs = out->n_nics && nic[0].device->attr->osdev.type ==
	                                    HWLOC_OBJ_OSDEV_OPENFABRICS;
	for (int i = 0; i < out->n_nics; i++)
		snprintf(out->nic[i], sizeof(out->nic[i]), "%s",
		         nic[i].device->name);
	for (int g = 0; g < out->n_gpus; g++) {
		const struct hwloc_pcidev_attr_s *a = &gpu[g].pci->attr->pcidev;
		struct cpl_gpu *to = &out->gpu[g];
		hwloc_obj_t above = gpu[g].pci;

		while (!above->cpuset)
			above = above->parent;
		snprintf(to->address, sizeof(to->address), "%04x:%02x:%02x.%x",
		         (unsigned)a->domain, a->bus, a->dev, a->func);
		to->nic = -1;
		to->near = hwloc_bitmap_dup(above->cpuset);
		if (!to->near)
			return cpl_fail_memory(err);
	}
	return 0;
}

int cpl_devices_find(hwloc_topology_t topology, struct cpl_devices *out,
                     struct cpl_error *err)
{
	int pci = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PCI_DEVICE);
	int os = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_OS_DEVICE);
	struct pci_device *gpu =
	        calloc((size_t)(pci > 0 ? pci : 0) + 1, sizeof(*gpu));
	struct pci_device *nic =
	        calloc((size_t)(os > 0 ? os : 0) + 1, sizeof(*nic));
	hwloc_obj_t *near = NULL;
	int rc = -1;

	memset(out, 0, sizeof(*out));
	if (cpl_out_of_memory(!gpu || !nic, err))
		goto done;
	out->n_gpus = find_gpus(topology, gpu);
	out->n_nics = find_nics(topology, true, nic);
	if (!out->n_nics)
		out->n_nics = find_nics(topology, false, nic);
	near = calloc((size_t)out->n_gpus + 1, sizeof(*near));
	if (!near)
		cpl_fail_memory(err);
	else
		rc = fill(gpu, nic, out, err);
	if (!rc)
		choose_nics(gpu, nic, out, near);
done:
	if (rc)
		cpl_devices_free(out);
	cpl_free_all(gpu, nic, near);
	return rc;
}

bool cpl_nic_variable_check(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                              "abcdefghijklmnopqrstuvwxyz_0123456789";

	return name[0] && (name[0] < '0' || name[0] > '9') &&
	       !name[strspn(name, letters)];
}

char *cpl_nic_value(const char *name, const char *nics, bool verbs)
{
	bool ports = verbs && !strcmp(name, "UCX_NET_DEVICES");
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (!strcmp(name, "NCCL_IB_HCA"))
		putc('=', out);
	for (const char *s = nics; *s; s++) {
		putc(*s, out);
		if (ports && (s[1] == ',' || !s[1]))
			fputs(":1", out);
	}
	if (fclose(out)) {
		free(text);
		text = NULL;
	}
	return text;
}

void cpl_devices_free(struct cpl_devices *devices)
{
	for (int g = 0; devices->gpu && g < devices->n_gpus; g++)
		hwloc_bitmap_free(devices->gpu[g].near);
	cpl_free_all(devices->gpu, devices->nic);
	memset(devices, 0, sizeof(*devices));
}
