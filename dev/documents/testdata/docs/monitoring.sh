# Both workers of a pool are held.
. "$TESTDATA/hold"
before() {
	since=
	kill $(jobs -p) 2>/dev/null && wait
	hold snowflakesi-40-1 1 snowflakesi --machine-bits 1 && hold snowflakesi-40-1 2 snowflakesi --machine-bits 1
}
