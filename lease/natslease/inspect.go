package natslease

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/firn-id/firn/lease/driver"
)

var (
	loses = driver.Finding{Loses: true}
	moves = driver.Finding{Loses: true, Remedy: driver.RemedyMove}
	note  driver.Finding
)

// Inspect looks at the bucket and its replicas. It cannot see the configuration of the servers.
func (s *Store) Inspect(ctx context.Context) ([]driver.Finding, error) {
	return driver.Call(ctx, s.Handle, "inspect", s.inspect)
}

func (s *Store) inspect(ctx context.Context) ([]driver.Finding, error) {
	var found []driver.Finding
	say := func(when bool, f driver.Finding, text, advice string) {
		if when {
			f.Text, f.Advice = text, advice
			found = append(found, f)
		}
	}
	stream, err := s.js.Stream(ctx, s.streamName())
	missing := errors.Is(err, jetstream.ErrStreamNotFound)
	if err != nil && !missing {
		return nil, s.readable(err)
	}
	say(missing, driver.Finding{Remedy: driver.RemedyCreate}, fmt.Sprintf("there is no bucket %s", s.options.Bucket), "")
	if !missing {
		s.inspectBucket(stream.CachedInfo(), say)
	}
	return driver.WorstFirst(found), nil
}

func (s *Store) inspectBucket(i *jetstream.StreamInfo, say func(when bool, f driver.Finding, text, advice string)) {
	c := &i.Config
	edit := "nats stream edit " + c.Name
	f := unfit(s.options.Bucket, c)
	say(f.Text != "", f, "the bucket "+f.Text+": leases are refused on it", f.Advice)
	memory := c.Storage == jetstream.MemoryStorage
	say(memory, moves, "the bucket is kept in memory: a server that restarts has lost it, and if all of them do, or the only one, all leases are lost",
		"use a bucket on disk, since it cannot be changed")
	say(c.MaxAge > 0, loses, fmt.Sprintf("the bucket deletes entries that are %s old: workers that rest are lost", c.MaxAge), "set its max_age to 0 ("+edit+" --max-age=0)")
	limited := c.MaxBytes > 0 || c.MaxMsgs > 0
	say(limited && c.Discard == jetstream.DiscardOld, loses, "the bucket has a limit to its size, and deletes the oldest entries when it is full (discard old): workers that rest are lost",
		"let it refuse new ones instead ("+edit+" --discard=new), or take the limit away")
	say(c.PersistMode == jetstream.AsyncPersistMode, moves, "the bucket acknowledges changes before they are written (persist mode async): a server that crashes loses them", "use another bucket, since it cannot be changed")
	if !memory {
		text, what := unsynced(s.conn.ConnectedServerVersion(), c.Replicas, s.options.SyncAlways)
		say(text != "", loses, text, what)
	}
	say(len(c.Sources) > 0, note, "the bucket takes in messages of other streams (sources), which can change its entries", "take its sources away")
	say(c.AllowRollup || !c.DenyDelete || !c.DenyPurge, note, "entries of the bucket can be deleted by users with the permission: their workers are lost then, and leases refuse to go on with the pool",
		"forbid it to all users ("+edit+" --deny-delete --deny-purge --no-allow-rollup)")
	say(c.AllowMsgTTL, note, "entries of the bucket can be given a time to live by other users (allow_msg_ttl)", "forbid it to those users")
	say(limited && c.Discard == jetstream.DiscardNew && c.MaxBytes > 0 && i.State.Bytes > uint64(c.MaxBytes)/10*8, note,
		fmt.Sprintf("the bucket is nearly full: %d bytes of %d", i.State.Bytes, c.MaxBytes), "raise its max_bytes ("+edit+" --max-bytes)")
	say(limited && c.Discard == jetstream.DiscardNew && c.MaxMsgs > 0 && i.State.Msgs > uint64(c.MaxMsgs)/10*8, note,
		fmt.Sprintf("the bucket is nearly full: %d entries of %d", i.State.Msgs, c.MaxMsgs), "raise its max_msgs ("+edit+" --max-msgs)")
	// A server that becomes a member of a cluster deletes each stream that the cluster does not know.
	alone, several := driver.Finding{Remedy: driver.RemedyMove}, "use a bucket in a cluster of three servers; do not make the server a member of a cluster, which deletes the bucket"
	if s.conn.ConnectedClusterName() != "" {
		alone, several = note, "have three servers or more in the cluster, and set the bucket's replicas to 3 ("+edit+" --replicas=3)"
	}
	say(c.Replicas == 1, alone, "the bucket is on one server alone: without it no lease can be taken or renewed, and if its disk is lost, all leases are", several)
	say(c.Replicas == 2 || c.Replicas == 4, note, fmt.Sprintf("the bucket is on %d servers, of which a majority is needed: it takes no more failures than with one less", c.Replicas), "set its replicas to 3 or 5")
	if i.Cluster != nil {
		var away []string
		for _, r := range i.Cluster.Replicas {
			if r.Offline || !r.Current {
				away = append(away, r.Name)
			}
		}
		say(len(away) > 0, note, fmt.Sprintf("of the bucket's %d servers %d do not keep up, or are down: %s", c.Replicas, len(away), strings.Join(away, ", ")), "see to them")
	}
}

// unsynced returns what a bucket on disk can lose because its servers sync their disks late, and the
// advice, or "". The version is that of the connected server. If always is set, the servers have
// sync_interval: always, as far as their version has the setting.
func unsynced(version string, replicas int, always bool) (text, what string) {
	const set = "sync_interval: always in the jetstream section of the servers' configuration, then repeat it in the address, sync-always=true"
	v, newer := number(version), "use NATS 2.10 or later on all servers, set "+set
	if replicas > 1 {
		newer = "use NATS 2.10.23 or later on all servers, set " + set
	}
	switch {
	case v < hasSync:
		text, what = fmt.Sprintf("NATS %s syncs its disk once a minute, and cannot be set to do so with each change", version), newer
	case v < syncsLog && replicas > 1:
		text, what = fmt.Sprintf("NATS %s syncs the log that the bucket's servers share once in five minutes, also with sync_interval: always", version), newer
	case !always:
		text, what = "unless the servers have sync_interval: always, which a client cannot see, they sync their disks once in two minutes", "set "+set
	default:
		return "", ""
	}
	return text + ": when " + machines(replicas) + ", what was acknowledged in that time is lost", what
}

// machines describes the failure that a bucket with the number of replicas does not survive.
func machines(replicas int) string {
	if replicas == 1 {
		return "the server's machine fails"
	}
	return "the machines of most of its servers fail, or one does while another is cut off"
}
