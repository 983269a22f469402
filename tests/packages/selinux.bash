#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The labels that SELinux's reference policy gives to what the rpms install and what
# the daemons make, and that the admin guide states them: by the policy's own files,
# without a kernel that has it. After rpm.bash, with its rpms.
top=$(cd "${0%/*}/../.." && pwd)
. "$top/tests/tools/tap.bash"
[ "$top" = /commplace/source ] || bail "changes the system: only for a root of packages_run"
guide=$top/doc/admin-guide.md
tmp=$(mktemp -d)
on_exit 'rm -rf "$tmp"'
# Only its files: to install it takes minutes.
cd "$tmp" && chown _apt . 2>/dev/null
runs "Debian has the policy" apt-get -q download selinux-policy-default
dpkg-deb -x selinux-policy-default_*.deb policy
bunzip2 <policy/usr/share/selinux/default/base.pp.bz2 >base.pp
runs "which has rules for files" semodule_unpackage base.pp base.mod base.fc
cp policy/etc/selinux/default/contexts/files/file_contexts.subs_dist base.fc.subs_dist

label() { # KIND PATH
	matchpathcon -n -f base.fc -m "$1" "$2" | sed 's/.*:object_r:\([a-z_]*\).*/\1/'
}
# labelled LABEL KIND PATH...
labelled() {
	local label=$1 kind=$2 path
	shift 2
	for path; do
		is "$(label "$kind" "$path")" "$label" "$path is $label"
	done
}
# stated WHERE LABEL: a row of the guide says so
stated() {
	grep -qE "^\| .*$1.* \| .*$2" "$guide"
	ok $? "the guide has $1 as $2"
}

rpm -qpl /commplace/rpm/RPMS/x86_64/*.rpm | grep -vE '/licenses/|/\.build-id' |
	sort -u >files
isnt "$(wc -l <files)" 0 "the rpms have files"
while read -r path; do
	echo "$(label file "$path") $path"
done <files >labels
is "$(grep -cE '^(default_t|unlabeled_t|<<none>>) ' labels)" 0 "each of them has a label"
for what in "/usr/bin/ /usr/sbin/ /usr/libexec/:bin_t" "/usr/lib64/:lib_t" \
	"/usr/share/commplace/:usr_t"; do
	for where in ${what%:*}; do
		is "$(grep -F " $where" labels | cut -d' ' -f1 | sort -u)" "${what#*:}" \
			"what is below $where is ${what#*:}"
		stated "$where" "${what#*:}"
	done
done

labelled etc_t file /etc/slurm/commplace.conf /etc/slurm/commplace/network.json
stated /etc/slurm/commplace.conf etc_t
labelled var_lib_t dir /var/lib/commplace /var/lib/commplace/profiles
labelled var_lib_t file /var/lib/commplace/state/running/1.json
labelled var_lib_t sock_file /var/lib/commplace/state/status.socket
stated /var/lib/commplace/ var_lib_t
labelled "<<none>>" dir /run/commplaced
labelled "<<none>>" sock_file /run/commplaced/socket
stated /run/commplaced/ var_run_t
labelled bin_t file /opt/slurm/bin/srun /opt/slurm/sbin/commplaced \
	/opt/slurm/libexec/commplace-layout
labelled lib_t file /opt/slurm/lib/slurm/x.so /opt/slurm/lib64/slurm/x.so
labelled var_lib_t dir /opt/slurm/var/lib/commplace
labelled usr_t file /opt/slurm/etc/commplace.conf
labelled var_t dir /srv/commplace/profiles
labelled default_t file /apps/slurm/sbin/commplaced
stated /apps/slurm default_t

# What the guide's lines for semanage write.
sed -n 's|^semanage fcontext -a -e \(/.*\) \(/.*\)$|\2 \1|p' "$guide" >base.fc.subs
is "$(wc -l <base.fc.subs)" 2 "the guide has lines for semanage"
labelled bin_t file /apps/slurm/sbin/commplaced
labelled lib_t file /apps/slurm/lib64/slurm/x.so
labelled var_lib_t dir /data/slurm/state
done_testing
