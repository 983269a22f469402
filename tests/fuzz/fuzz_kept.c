/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that KeepSamples keeps: what links were measured to carry, for replays. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measured/measured.h"
#include "site/sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char ring[] =
        "{\"format\": \"commplace-network\", \"version\": 1, \"name\": \"t\", "
        "\"type\": \"torus\", \"dims\": [4], \"wrap\": [true], "
        "\"nodes_per_router\": 1, "
        "\"bandwidth\": {\"dim\": [100], \"injection\": 1000}, "
        "\"nodes\": \"n[0-3]\"}";

static char dir[] = "/dev/shm/commplace-fuzz-kept.XXXXXX";

static void tidy(void)
{
	if (!chdir(dir) && !unlink("samples/1.json") && !rmdir("samples"))
		rmdir(dir);
}

static void put_file(const uint8_t *data, size_t size)
{
	FILE *out;

	if (!strstr(dir, "XXXXXX"))
		out = fopen("samples/1.json", "w");
	else if (mkdtemp(dir) && !chdir(dir) && !mkdir("samples", 0700) &&
	         !atexit(tidy))
		out = fopen("samples/1.json", "w");
	else
		out = NULL;
	if (!out || fwrite(data, 1, size, out) != size || fclose(out))
		abort();
}

/* Two jobs run, of which the second one stands still. */
static void begin(struct cpl_scene *scene)
{
	for (int64_t id = 7; id < 9; id++) {
		const struct cpl_times_rate rate[] = {{0, 5}, {3, 7}};
		struct cpl_error err = {""};
		struct cpl_job_load *job = cpl_job_load_of_rates(rate, 2, &err);

		if (!job)
			abort();
		job->id = id;
		if (cpl_scene_add(scene, job, &err))
			abort();
	}
}

/* Whatever the file says, no link has less than nothing, or a number that is none. */
static void check(struct cpl_scene *scene)
{
	const struct cpl_load *background, *rates;
	struct cpl_error err = {""};

	if (cpl_scene_loads(scene, 1, &background, &rates, &err))
		abort();
	for (int64_t i = 0; i < cpl_times_links(scene->net); i++)
		if (!(*cpl_times_at((struct cpl_load *)rates, i) >= 0) ||
		    !isfinite(*cpl_times_at((struct cpl_load *)rates, i)))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cpl_network *net;
	struct cpl_error err = {""};
	struct cpl_scene scene = {0};

	if (!net)
		net = cpl_network_parse(ring, strlen(ring), "n", &err);
	if (!net)
		abort();
	put_file(data, size);
	scene.net = net;
	scene.routing = cpl_routing_minimal(net);
	begin(&scene);
	if (!cpl_sample_put(".", 1, &scene, &err))
		check(&scene);
	else if (!err.text[0])
		abort();
	cpl_scene_close(&scene);
	return 0;
}
