#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make install puts everything where it belongs, below DESTDIR, and a program of
# somebody else's builds against the library.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_BUILD:?}" "${COMMPLACE_SOURCE:?}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/commplace-install.XXXXXX")
on_exit 'rm -rf "$tmp"'
prefix=$(sed -n 's/^prefix = //p' "$COMMPLACE_BUILD/Makefile")

runs "make install DESTDIR=..." \
	make -s -C "$COMMPLACE_BUILD" install DESTDIR="$tmp/root"
is "$(find "$tmp/root" -mindepth 1 -not -path "$tmp/root$prefix*" -type f)" "" \
	"nothing is installed outside of the prefix"
root=$tmp/root$prefix
for f in bin/commplace lib/libcommplace.so lib/pkgconfig/commplace.pc \
    lib/slurm-wlm/{select_cons_tres_commplace,task_commplace,spank_commplace,job_submit_commplace}.so \
    share/man/man1/commplace.1 share/man/man1/commplace-map.1 \
    share/man/man5/commplace.conf.5 share/doc/commplace/options-in-versions \
    share/bash-completion/completions/commplace etc/bash_completion.d/commplace \
    share/fish/vendor_conf.d/commplace.fish share/zsh/site-functions/_commplace-submit \
    share/man/man8/spank_commplace.8; do
	[ -s "$root/$f" ]
	ok $? "$f is installed"
done
[ -n "$(find "$root" -name 'libcommplace-record.so*')" ]
ok $? "the recorder is installed"
if grep -q '^#define CPL_OLD_DL' "$COMMPLACE_BUILD/commplace-config.h"; then
	is "$(objdump -T "$(find "$root" -name 'libcommplace-record.so')" |
		grep -oE 'GLIBC_2\.[0-9]+' | sort -uV | sed -n '$p')" GLIBC_2.17 \
		"which containers can load whose C library is of 2012 or newer"
fi
[ -n "$(find "$root" -name 'libcommplace-reorder.so*')" ]
ok $? "so is the library that reorders"
python=$(sed -n 's/^pythondir = //p' "$COMMPLACE_BUILD/Makefile")
[ -z "$python" ] || [ -s "$root/${python#*/}/commplace/__init__.py" ]
ok $? "the package of Python is, where configure found a place"
[ -n "$(find "$root/share" -name '*.json' | head -1)" ]
ok $? "sample files are installed"

# Plugins export what Slurm looks up and nothing of the core.
for so in "$root"/lib/slurm-wlm/*.so; do
	is "$(nm -D --defined-only "$so" | awk '{print $3}' | grep -E '^(cpl|json|hwloc)_')" \
		"" "${so##*/} exports no symbol of the core"
	is "$(nm -D --undefined-only "$so" | awk '{print $2}' | grep -E '^cpl_')" \
		"" "${so##*/} has all of the core that it calls"
done
for so in select_cons_tres task job_submit; do
	like "$(nm -D --defined-only "$root/lib/slurm-wlm/${so}_commplace.so")" \
		"plugin_version" "${so}_commplace.so names its version"
done

# Manual pages are free of warnings.
pages=0
while read -r page; do
	warnings=$(man --warnings -l "$page" 2>&1 >/dev/null </dev/null)
	[ -z "$warnings" ]
	ok $? "${page##*/}: no warnings" || diag "$warnings"
	pages=$((pages + 1))
done < <(find "$root/share/man" -type f | sort)
[ "$pages" -ge 5 ]
ok $? "there are manual pages: $pages"

# Fault 28: squeue shows 20 characters of a field without a width.
is "$(find "$root/share" \( -name '*.md' -o -name '*.[158]' \) -exec \
	grep -hE 'admin_comment([^:]|$)' {} +)" "" \
	"squeue is told how much of AdminComment to print"

# A page for each subcommand, and help that names it.
while read -r name; do
	runs "commplace $name --help" "$root/bin/commplace" "$name" --help
	[ -n "$(find "$root/share/man/man1" -name "commplace-$name.1*")" ]
	ok $? "commplace-$name(1) is there"
done < <("$root/bin/commplace" --help | sed -n 's/^  \([a-z]*\)  *.*/\1/p')

# Somebody else's program.
cat >"$tmp/use.c" <<'END'
#include <commplace/network.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct commplace_error err;
	struct commplace_network *net = commplace_network_load(argv[1], &err);

	if (!net) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("ok\n");
	return 0;
}
END
flags=$(PKG_CONFIG_PATH=$root/lib/pkgconfig pkg-config \
	--define-variable=prefix="$root" --cflags --libs commplace 2>&1)
ok $? "pkg-config knows commplace"
# shellcheck disable=SC2086
runs "a program builds with what pkg-config says" \
	gcc -Wall -Werror -o "$tmp/use" "$tmp/use.c" $flags
is "$(LD_LIBRARY_PATH=$root/lib "$tmp/use" \
	"$COMMPLACE_SOURCE/etc/networks/quickstart.json" 2>&1)" ok "and runs"

runs "make uninstall DESTDIR=..." \
	make -s -C "$COMMPLACE_BUILD" uninstall DESTDIR="$tmp/root"
is "$(find "$tmp/root" -type f)" "" "make uninstall leaves no file"
done_testing
