# An owner of the database app, and a user of the store, with passwords in files.
psql -q -d postgres -c 'CREATE ROLE owner LOGIN' -c 'CREATE ROLE ids LOGIN' -c 'CREATE DATABASE app OWNER owner'
for name in owner db; do echo secret >"$DIR/run/secrets/$name"; done

# Files of sysusers.d and tmpfiles.d, below a root of their own. Only root may make users and groups there.
block_ini() {
	[ "$(id -u)" = 0 ] || return 0
	case $(head -1 "$1") in
	*/sysusers.d/*) systemd-sysusers --root="$DIR" "$1" ;;
	*/tmpfiles.d/*) systemd-tmpfiles --root="$DIR" --create "$1" ;;
	*) return 1 ;;
	esac
}
