#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# contrib/exporters/commplace-links: what it prints for counters that are known, of
# each source, and that `commplace status` reads it.
here=$(cd "${0%/*}" && pwd)
. "$here/../tools/tap.bash"
command -v python3 >/dev/null || skip_all "python3 is not there"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' ||
	skip_all "python3 is older than 3.8"
commplace=${COMMPLACE:-commplace}
links=$here/../../contrib/exporters/commplace-links
work=$(mktemp -d)
on_exit 'rm -rf "$work"'
mkdir "$work/state" "$work/bin"
cd "$work" || bail "no $work"
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1 COMMPLACE_CONF=$work/commplace.conf
: >commplace.conf

# exports NAME WANTED ARGUMENT...: the rows behind the head, without times
exports() {
	local name=$1 want=$2
	shift 2
	python3 "$links" "$@" >out 2>err || diag "exit status $?: $(cat err)"
	is "$(sed '1d; s/^[0-9.]*,//' out | paste -sd' ')" "$want" "$name"
}
# refuses NAME TEXT ARGUMENT...: exit status 1, nothing printed, one line
refuses() {
	local name=$1 text=$2 status
	shift 2
	python3 "$links" "$@" >out 2>err
	status=$?
	is "$status $(wc -l <err) $(grep -c . out)" "1 1 0" "$name: one line, no rows"
	like "$(cat err)" "^commplace-links: .*$text" "$name: why"
}
# measured NETWORK: links that are read of out, rows that are left out, why
measured() {
	"$commplace" status --network "$1" --state-dir "$work/state" --measured out \
		--json 2>&1 | jq -c '[.measured.links, .measured.left_out]'
}

# Two leaves, one spine called with a comma and a "#", two cables from leaf1 on; a host
# with two adapters, a switch's own adapter, a cable of a switch to itself, and a
# router. Both leaves of fabric same.txt have the same name.
cat >ib.txt <<'END'
Switch	8 "S-00000000000000a1"		# "leaf1" base port 0 lid 11 lmc 0
[1](a11)	"H-00000000000000c1"[1](c11) 		# "n1 mlx5_0" lid 21 4xHDR
[2](a12)	"H-00000000000000c2"[1](c21) 		# "n1 mlx5_1" lid 22 4xHDR
[3]	"S-00000000000000b1"[1]		# "spine, #1" lid 13 4xHDR
[4]	"S-00000000000000b1"[2]		# "spine, #1" lid 13 4xHDR
[5]	"S-00000000000000a1"[6]		# "leaf1" lid 11 4xHDR
[6]	"S-00000000000000a1"[5]		# "leaf1" lid 11 4xHDR
[7](a17)	"H-00000000000000d1"[1](d11) 		# "Mellanox Technologies Aggregation Node" lid 29 4xHDR
[8]	"R-00000000000000e1"[1]		# "router" lid 30 4xHDR

Switch	8 "S-00000000000000a2"		# "leaf2" base port 0 lid 12 lmc 0
[1](a21)	"H-00000000000000c3"[1](c31) 		# "n2 mlx5_0" lid 23 4xHDR
[3]	"S-00000000000000b1"[3]		# "spine, #1" lid 13 4xHDR

Switch	8 "S-00000000000000b1"		# "spine, #1" base port 0 lid 13 lmc 0
[1]	"S-00000000000000a1"[3]		# "leaf1" lid 11 4xHDR
[2]	"S-00000000000000a1"[4]		# "leaf1" lid 11 4xHDR
[3]	"S-00000000000000a2"[3]		# "leaf2" lid 12 4xHDR

Ca	1 "H-00000000000000c1"		# "n1 mlx5_0"
[1](c11)	"S-00000000000000a1"[1]		# lid 21 lmc 0 "leaf1" lid 11 4xHDR
END
runs "import" "$commplace" network import ib.txt --format ibnetdiscover -o ib.json

# Counters are words: the lid, the port and the turn, 64 bits of them.
cat >bin/perfquery <<'END'
#!/bin/sh
echo "$*" >>"$WORK/asked"
[ "$1 $2" = "-x -l" ] || exit 9
shift 2
[ "$1" != -C ] || shift 4
if [ "$1" = "${DEAF:-}" ]; then
	echo "perfquery: iberror: failed: perfextquery" >&2
	exit 255
fi
turn=$(cat "$WORK/turn")
for port in $(echo "$2" | tr , ' '); do
	echo "# Port extended counters: Lid $1 port $port (CapMask: 0x1300 CapMask2: 0x0000000)"
	echo "PortSelect:......................$port"
	echo "PortXmitData:....................$1$port$turn"
	echo "PortRcvData:.....................9$1$port$turn"
	echo "PortXmitPkts:....................1"
done
END
printf '#!/bin/sh\necho "$*" >>"$WORK/asked"\ncat "$WORK/ib.txt"\n' >bin/ibnetdiscover
chmod 755 bin/*
export WORK=$work PATH=$work/bin:$PATH
echo 0 >turn
rows0='leaf1[1],n1,4440 n1,leaf1[1],364440 leaf1[3],"spine, #1[1]",4520 leaf1[4],"spine, #1[2]",4560 leaf2[1],n2,4840 n2,leaf2[1],364840 leaf2[3],"spine, #1[3]",4920 "spine, #1[1]",leaf1[3],5240 "spine, #1[2]",leaf1[4],5280 "spine, #1[3]",leaf2[3],5320'
# Four ports of words each, of which a digit more is 4 bytes more.
exports "perfquery: each cable in each direction, in bytes" "$rows0" perfquery --keep keep
is "$(sort asked | paste -sd, )" ",-x -l 11 1,3,4,-x -l 12 1,3,-x -l 13 1,2,3" \
	"each switch is asked for its ports once"
echo 1 >turn
python3 "$links" perfquery --keep keep >out
is "$(sed '1d; s/^[0-9.]*,//' out | sed -n 1~2p | paste -sd' ')" "$rows0" \
	"with --keep the older counters"
is "$(sed '1d; s/^[0-9.]*,//' out | sed -n 2~2p | paste -sd' ')" \
	"$(tr ' ' '\n' <<<"${rows0//, #/,_#}" | awk -F, -v OFS=, '{ $NF += 4; print }' |
		tr '_\n' '  ' | sed 's/ $//')" "and the new ones"
is "$(measured ib.json)" '[10,0]' "which are read as counters of every link"
is "$(cut -d, -f1 out | sed 1d | sort -u | wc -l)" 6 "a time of each switch and turn"
echo 2 >turn
python3 "$links" perfquery --keep keep --ca mlx5_1 --port 1 >out
is "$(tail -n +2 keep | wc -l) $(grep -c . out)" "10 21" "the newest ones are kept"
like "$(cat asked)" "-x -l -C mlx5_1 -P 1 13 1,2,3" "the local port is passed on"
DEAF=13 python3 "$links" perfquery >out 2>err
is "$? $(sed 1d out | cut -d, -f2 | sort | uniq -c | tr -s ' ' | paste -sd,)" \
	"0  1 leaf1[1], 1 leaf1[3], 1 leaf1[4], 1 leaf2[1], 1 leaf2[3], 1 n1, 1 n2" \
	"a switch that does not answer has no rows"
is "$(cat err)" "commplace-links: 1 of 3 switches do not tell; the first: spine, #1: perfquery -x -l 13 1,2,3: exit status 255: perfquery: iberror: failed: perfextquery" \
	"and is told of"
python3 "$links" perfquery --interval 0.05 --ibnetdiscover ib.txt >out
is "$(grep -c . out) $(measured ib.json)" "21 [10,0]" "--interval reads twice"
sed 's/"leaf[12]"/"SwitchX"/' ib.txt >same.txt
python3 "$links" perfquery --ibnetdiscover same.txt >out
is "$(grep -o 'S-00000000000000a[12]' out | sort | uniq -c | paste -sd' ')" \
	"      6 S-00000000000000a1       4 S-00000000000000a2" \
	"switches of one name are told by GUID, as import does"
refuses "nothing to ask" "ibnetdiscover: there is no switch" perfquery --ibnetdiscover turn
refuses "no dump" "none.txt: No such file" perfquery --ibnetdiscover none.txt
python=$(python3 -c 'import sys; print(sys.executable)')
PATH=/nowhere "$python" "$links" perfquery >out 2>err
is "$? $(cat out)" "1 " "without ibnetdiscover"
like "$(cat err)" "^commplace-links: ibnetdiscover: .*No such file" "why"
echo rubbish >keep
python3 "$links" perfquery --keep keep >out 2>err
is "$? $(grep -c . out) $(cat err)" "0 11 commplace-links: keep: it does not begin with time,from,to,bytes; counters begin anew" \
	"a damaged file of older counters"

mkdir -p full/kept
python3 "$links" perfquery --keep full/kept >out 2>err
is "$? $(cat out)$(find full -type f) $(tail -n 1 err)" \
	"1  commplace-links: full/kept: Is a directory" \
	"older counters cannot be kept, and nothing is left behind"

# sysfs of a node
sys=$work/sys/class
for port in mlx5_0/ports/1 mlx5_1/ports/1; do
	mkdir -p "$sys/infiniband/$port/counters"
	echo "4: ACTIVE" >"$sys/infiniband/$port/state"
	echo 5000 >"$sys/infiniband/$port/counters/port_xmit_data"
	echo 6000 >"$sys/infiniband/$port/counters/port_rcv_data"
done
mkdir -p "$sys/net/eth0/statistics"
echo 77 >"$sys/net/eth0/statistics/tx_bytes"
echo 88 >"$sys/net/eth0/statistics/rx_bytes"
refuses "several ports" "mlx5_0/1 mlx5_1/1" sysfs --sys "$work/sys" --host n1
echo "1: DOWN" >"$sys/infiniband/mlx5_1/ports/1/state"
exports "sysfs: the only active port, words of 4 octets" "n1,,20000 ,n1,24000" \
	sysfs --sys "$work/sys" --host n1
exports "an interface, bytes" "n1,,77 ,n1,88" sysfs --sys "$work/sys" --host n1 eth0
exports "several, in this order" "n1:0,,77 ,n1:0,88 n1:1,,20000 ,n1:1,24000" \
	sysfs --sys "$work/sys" --host n1 eth0 mlx5_0/1
echo 9223372036854775807 >"$sys/infiniband/mlx5_0/ports/1/counters/port_xmit_data"
exports "a counter that has wrapped in bytes" "n1,,18446744073709551612 ,n1,24000" \
	sysfs --sys "$work/sys" --host n1
refuses "no such interface" "eth9/statistics/tx_bytes: No such file" \
	sysfs --sys "$work/sys" eth9
echo x >"$sys/net/eth0/statistics/rx_bytes"
refuses "no number" "rx_bytes: is no number" sysfs --sys "$work/sys" eth0
rm -r "$sys/infiniband"
refuses "no adapter" "name the interfaces" sysfs --sys "$work/sys"

# LDMS, the newest two of three times
cat >ldms.csv <<'END'
#Time,Time_usec,ProducerName,component_id,job_id,app_id,ib.port_rcv_data#mlx5_0.1,ib.port_xmit_data#mlx5_0.1,ib.port_xmit_data.rate#mlx5_0.1,ib.port_xmit_wait#mlx5_0.1
1795783200.000100,100,n1,1,0,0,10,100,0.5,7
1795783210.000100,100,n1,1,0,0,20,200,0.5,7
1795783220.000100,100,n1,1,0,0,30,300,0.5,7
1795783220.000200,200,n2.site.org,2,0,0,40,400,0.5,7
1795783230.000100,100,n1,1,0,0
END
exports "LDMS: sysclassib" "n1,,800 n1,,1200 ,n1,80 ,n1,120 n2.site.org,,1600 ,n2.site.org,160" \
	ldms ldms.csv
exports "hosts without domain" "n1,,800 n1,,1200 ,n1,80 ,n1,120 n2,,1600 ,n2,160" \
	ldms --short - <ldms.csv
is "$(sed -n 2p out)" "1795783210.0001,n1,,800" "time of a sample"
echo '#Time,Time_usec,ProducerName,component_id,job_id,app_id,rx_bytes#eth0,tx_bytes#eth0,rx_bytes#ib0,tx_bytes#ib0,rx_bytes#lo' >head.csv
printf '17.5,500000,n1,1,0,0,1,2,3,4,5\n18.5,500000,n1,1,0,0,1,2,oops,4,5\n' >rows.csv
exports "LDMS: procnetdev with the head aside" "n1,,4 ,n1,3" \
	ldms --header head.csv --device ib0 rows.csv
is "$(cat err)" "commplace-links: 1 lines have a value that is no number" "one value is none"
exports "several devices" "n1:0,,4 ,n1:0,3 n1:1,,2 n1:1,,2 ,n1:1,1 ,n1:1,1" \
	ldms --header head.csv --device ib0 --device eth0 rows.csv
refuses "which device" "the columns are of eth0 ib0; --device" ldms --header head.csv rows.csv
refuses "no such device" "no columns of ib7, but of eth0 ib0" \
	ldms --header head.csv --device ib7 rows.csv
refuses "not of LDMS" "Time and ProducerName are needed" ldms ib.json
refuses "no file" "none: No such file" ldms none

# UFM Telemetry: two samples; adapters, ports without a cable, and a row cut off
ufm() { # TIME NUMBER
	echo "timestamp,source_id,tag,node_guid,port_guid,port_num,PortXmitDataExtended,PortRcvDataExtended,PortXmitWaitExtended"
	local guid port
	for guid in a1:1 a1:3 a1:4 a1:5 a2:1 a2:3 b1:1 b1:2 b1:3 b1:7 c1:1; do
		port=${guid#*:}
		guid=${guid%:*}
		echo "$1,0x$guid,,0x00000000000000$guid,0x$guid,$port,$2$port,${2}9,5"
	done
}
ufm 1795783200000000 1 >ufm1.csv
ufm 1795783210000000 2 >ufm2.csv
echo "1795783210000000,0xa1,,0x00" >>ufm2.csv
exports "UFM: ports of switches, over the cables that ibnetdiscover found" \
	'leaf1[1],n1,44 n1,leaf1[1],76 leaf1[3],"spine, #1[1]",52 leaf1[4],"spine, #1[2]",56 leaf2[1],n2,44 n2,leaf2[1],76 leaf2[3],"spine, #1[3]",52 "spine, #1[1]",leaf1[3],44 "spine, #1[2]",leaf1[4],48 "spine, #1[3]",leaf2[3],52' \
	ufm --ibnetdiscover ib.txt --keep kept ufm1.csv
python3 "$links" ufm --ibnetdiscover ib.txt --keep kept - <ufm2.csv >out
is "$(grep -c . out) $(measured ib.json)" "21 [10,0]" "two samples are read as counters"
python3 "$links" ufm --ibnetdiscover ib.txt ufm1.csv ufm2.csv >both
is "$(cat both)" "$(cat out)" "as of two files"
is "$(sed -n '2,3s/,leaf.*//p' out | paste -sd' ')" "1795783200 1795783210" \
	"microseconds are told as seconds"
sed 's/node_guid/Node_GUID/; s/port_num/Port_Number/' ufm1.csv >named.csv
exports "UFM Enterprise's names; --octets 1" \
	'leaf1[1],n1,11 n1,leaf1[1],19 leaf1[3],"spine, #1[1]",13 leaf1[4],"spine, #1[2]",14 leaf2[1],n2,11 n2,leaf2[1],19 leaf2[3],"spine, #1[3]",13 "spine, #1[1]",leaf1[3],11 "spine, #1[2]",leaf1[4],12 "spine, #1[3]",leaf2[3],13' \
	ufm --ibnetdiscover ib.txt --octets 1 named.csv
cut -d, -f1-6 ufm1.csv >less.csv
refuses "no counters of data" "no column of received, sent" ufm --ibnetdiscover ib.txt less.csv
head -n 1 ufm1.csv >empty.csv
refuses "no rows" "nothing was counted" ufm --ibnetdiscover ib.txt empty.csv
done_testing
