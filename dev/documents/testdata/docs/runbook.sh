# Each section of the page begins with a fault. The function before makes the fault of a command, or of the output that the page
# shows, in an empty store.
pool=$STATE/nanoflake/workers
. "$TESTDATA/hold"

# used makes records of workers. Their processes have ended.
used() { for worker; do firn new nanoflake --worker "$worker" --state "$STATE" || return; done; }

# ahead changes a record, as a process whose clock was ahead by some seconds would have written it.
ahead() {
	python3 - "$pool" "$1" "$2" "$3" <<-'END'
		import json, sys, time
		def crc(data):
		    c = 0xffffffff
		    for byte in data:
		        c ^= byte
		        for _ in range(8):
		            c = c >> 1 ^ (0x82f63b78 if c & 1 else 0)
		    return c ^ 0xffffffff
		pool, worker, ahead, held = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "held"
		path = "%s/%05d=" % (pool, worker)
		head, value = open(path, "rb").read().split(b"\n", 1)
		number = head.split()[2].decode()
		record, until = json.loads(value), int((time.time() + ahead) * 1e6) // 1000 * 1000
		record["from_us"], record["until_us"] = until - 1000000 if held else until, until
		holder = record["holders"][0]
		holder["program"], holder["since_us"], holder["until_us"] = "orders", record["from_us"], until
		if held:
		    del record["back_us"]
		    record["incarnation"], record["holder"] = record["attempt"], "orders (process %(pid)d on %(host)s)" % holder
		value = json.dumps(record, separators=(",", ":")).encode()
		sum = crc(b"nanoflake/workers/%05d\n%s\n" % (worker, number.encode()) + value)
		open(path, "wb").write(b"firn 1 %s %08x\n" % (number.encode(), sum) + value)
	END
}

before() {
	since=
	unset -f firn
	kill $(jobs -p) 2>/dev/null && wait
	rm -rf "$STATE" "$HOME/.local"
	case $1 in
	"firn pool doctor --store "*) ;;
	timedatectl) timedatectl() { :; } ;; # needs systemd
	"firn pool doctor --state "* | "firn pool show nanoflake "*)
		case $2 in
		*"the clock is wrong"*) used 1 2 && ahead 1 315360000 back && ahead 2 315360000 back ;;
		*damaged*) used 5 42 && echo damaged >"$pool/00005=" ;;
		*ahead*) used 1 2 3 7 8 && ahead 7 3600 back && ahead 8 3600 held ;;
		*) used 1 ;;
		esac
		;;
	*"pool recover nanoflake"*" --window "* | "firn pool list "*) used 1 ;;
	"firn pool recover nanoflake "*) used 1 2 3 5 42 && echo damaged >"$pool/00005=" ;;
	"firn new nanoflake --pool orders "* | "firn pool recover orders "*) used 1 ;;
	"firn pool show snowflakesi-40-1 "*)
		hold snowflakesi-40-1 1 snowflakesi --machine-bits 1 && hold snowflakesi-40-1 2 snowflakesi --machine-bits 1
		;;
	"firn new nanoflake --worker 5 "*) hold nanoflake 1 nanoflake --worker 5 ;;
	"firn pool who "*)
		made=$(used 1)
		firn() { command firn "${@/05xm5fe2qf6dc/$made}" | sed "s/$made/05xm5fe2qf6dc/"; }
		;;
	"firn pool recover --all --adopt "*) used 1 2 3 4 && mv "$STATE" "$STATE.original" && cp -a "$STATE.original" "$STATE" ;;
	esac
}
