#!/bin/sh
# Measures Firn and other packages, and writes the results, the table and the charts, on a machine
# that does nothing else.
set -eu
cd "$(dirname "$0")"
firn='^id=(nanoflake|sno|snowflakesi|ulidflake.*|scru160)$'
peers='github.com/bwmarrin/snowflake github.com/gofrs/uuid/v5 github.com/google/uuid github.com/oklog/ulid/v2
	github.com/rogpeppe/fastuuid github.com/rs/xid github.com/segmentio/ksuid github.com/sony/sonyflake'
{
	echo "cores: $(nproc)"
	echo "clocksource: $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource || echo unknown)"
	echo "go: $(go env GOVERSION)"
	echo "date: $(date -u +%F)"
	# shellcheck disable=SC2086 # a list
	go list -m -f '{{.Path}}: {{.Version}}' $peers
	go test -run '^$' -bench 'Next|Parallel|Batch|Encode|Decode' -benchtime 80ms -count 10 .
	go test -run '^$' -bench 'Saturation' -benchtime 2s -count 3 .
	go test -run '^$' -bench 'Sort' -benchtime 200ms -count 6 .
	echo 'tags: purego'
	go test -tags purego -run '^$' -bench "^Benchmark(Next|Encode|Decode)\$/$firn" -benchtime 80ms -count 10 .
} >results/bench.new
mv results/bench.new results/bench.txt
go run ./table results
