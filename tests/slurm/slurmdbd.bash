# SPDX-License-Identifier: GPL-2.0-or-later
# A slurmdbd on a mariadbd of a test's own, which listens on a socket alone; sourced
# behind cluster.bash. Both are begun by `accounting_start`, once there is a munged.
for program in mariadbd slurmdbd sacctmgr; do
	command -v $program >/dev/null ||
		skip_all "there is no $program: scripts/install-packages live"
done
[ -e "$SLURM_STOCK_PLUGINS/accounting_storage_mysql.so" ] ||
	skip_all "this Slurm was built without accounting_storage/mysql"
# Debian's of 24.11 and 26.05 do not come up with its mariadb yet, for a reason that is
# not known.
case $CLUSTER_SERIES in
2205 | 2505) ;;
*) skip_all "slurmdbd was not tried with this Slurm" ;;
esac

# As mariadb-install-db does it, which more packages would come for.
database() {
	local sql=$CLUSTER/sql log=$CLUSTER/log/mariadbd.log tables options
	tables=$(ls /usr/share/{mariadb,mysql}/m*_system_tables.sql 2>/dev/null | head -n 1)
	[ -n "$tables" ] || return
	export MYSQL_UNIX_PORT=$CLUSTER/run/mariadbd.socket
	mkdir "$sql" "$sql/data" "$sql/tmp"
	options=(--no-defaults --user=root --datadir="$sql/data" --tmpdir="$sql/tmp"
		--skip-grant-tables --skip-networking --socket="$MYSQL_UNIX_PORT"
		--pid-file="$CLUSTER/run/mariadbd.pid" --innodb-buffer-pool-size=32M
		--innodb-log-file-size=8M --innodb-flush-log-at-trx-commit=0)
	{
		echo "create database mysql;"
		echo "use mysql;"
		cat "$tables"
	} | mariadbd "${options[@]}" --bootstrap >"$log" 2>&1 || return
	mariadbd "${options[@]}" >>"$log" 2>&1 </dev/null 3>&- 4>&- &
	on_exit 'cluster_kill "$CLUSTER/run/mariadbd.pid"'
	listens() { [ -S "$MYSQL_UNIX_PORT" ]; }
	wait_for 60 listens
}
accounting() {
	cat >"$CLUSTER/etc/slurmdbd.conf" <<-END
	AuthType=auth/munge
	AuthInfo=socket=$CLUSTER/run/munge.socket
	DbdHost=localhost
	DbdAddr=127.0.0.1
	DbdPort=$dbd_port
	SlurmUser=root
	StorageType=accounting_storage/mysql
	StorageHost=localhost
	StorageUser=root
	StorageLoc=slurm
	PluginDir=$SLURM_STOCK_PLUGINS
	PidFile=$CLUSTER/run/slurmdbd.pid
	LogFile=$CLUSTER/log/slurmdbd.log
	END
	chmod 600 "$CLUSTER/etc/slurmdbd.conf"
	slurmdbd >"$CLUSTER/log/slurmdbd.out" 2>&1 </dev/null 3>&- 4>&-
	on_exit 'cluster_kill "$CLUSTER/run/slurmdbd.pid"'
	answers() { sacctmgr -n show clusters >"$CLUSTER/log/slurmdbd.out" 2>&1; }
	wait_for 60 answers
}
accounting_start() {
	database || { cluster_dump "$CLUSTER/log/mariadbd.log"; bail "no mariadbd"; }
	accounting || { cluster_dump "$CLUSTER/log/slurmdbd.out"; bail "no slurmdbd"; }
}
# What slurm.conf has of it, for CLUSTER_EXTRA; sets dbd_port.
accounting_conf() {
	dbd_port=$((CLUSTER_PORT + 39))
	CLUSTER_EXTRA="AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePass=$CLUSTER/run/munge.socket
AccountingStoragePort=$dbd_port"
}
eval "plain_$(declare -f cluster_write_conf)"
