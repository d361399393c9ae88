package redislease

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/advice"
)

// says reports whether an error is an error of the server with the code. Redis 6 puts the code of a
// script's command into the middle of the text.
func says(err error, code string) bool {
	var e redis.Error
	return errors.As(err, &e) && (strings.HasPrefix(e.Error(), code) || strings.Contains(e.Error(), "-"+code+" "))
}

// isPermission reports whether the user lacks the right to a command or to its keys. For a script,
// only the words of the error say so.
func isPermission(err error) bool {
	return says(err, "NOPERM") || says(err, "ERR The user executing the script can't")
}

// diagnose returns the advice on an error, and the kind of the error.
func (s *Store) diagnose(err error) (what string, kind error) {
	if errors.Is(err, driver.ErrDamaged) {
		return advice.Damaged, driver.ErrDamaged
	}
	kind = driver.ErrUnavailable
	if isPermission(err) || slices.ContainsFunc(refusals, func(code string) bool { return says(err, code) }) {
		kind = driver.ErrRefused
	}
	return s.advice(err), kind
}

// refusals begin the errors of a server that refuses the user or the address.
var refusals = []string{"WRONGPASS", "NOAUTH", "WRONGTYPE", "MOVED", "CROSSSLOT", "ERR DB index", "ERR This instance has clust", "ERR SELECT is not allowed"}

func (s *Store) advice(err error) string {
	const silent = "see that the server runs, and that the network lets through to it"
	var (
		wait    *waitError
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		record  tls.RecordHeaderError
	)
	// The errors of Sentinels have codes, too, which say nothing of the server.
	ofSentinels := strings.Contains(err.Error(), "sentinels")
	for code, what := range map[string]string{
		"WRONGPASS":  "see that user and password are right (password-file, password-env)",
		"NOAUTH":     "the server wants a password: give user and password (password-file, password-env)",
		"LOADING":    "wait until the server has read its data from disk",
		"READONLY":   "the server is a replica: name the primary in the address, or the Sentinels with sentinel=NAME",
		"MASTERDOWN": "the server is a replica without its primary: name the primary in the address",
		"OOM":        "the server is full: raise maxmemory, or free some of it; leases need little",
		"MISCONF":    "the server cannot write its disk: " + adviceDisk,
		"NOREPLICAS": "the server wants more replicas before it takes changes (min-replicas-to-write): see that they run",
		"WRONGTYPE":  fmt.Sprintf("%s or %s belongs to something else: %s", s.keys[0], s.keys[1], adviceForeign),
		"MOVED":      "the server is one of a Cluster: add cluster=true to the address",
		"CROSSSLOT":  "the server is one of a Cluster: add cluster=true to the address",
		"CLUSTERDOWN": "see that all servers of the Cluster run: a part of the keys has no server, " +
			"or the servers do not agree",
		"BUSY":                        "a script of another client blocks the server: end it by SCRIPT KILL or FUNCTION KILL, as the error says",
		"ERR DB index":                "see that the number of the database, the path of the address, is one that the server has",
		"ERR This instance has clust": "take cluster=true out of the address",
		"ERR SELECT is not allowed":   "the server is one of a Cluster, which has no database but 0: add cluster=true to the address, with the path /0",
		"ERR WAITAOF cannot be used":  "the server keeps no log on disk (appendonly is no): " + adviceLog + ", or leave out wait-aof",
		"ERR unknown command":         "the server is too old for this command, or has the command switched off: allow it there (rename-command), or leave out wait-aof, which takes Redis 7.2 or Valkey",
	} {
		if !ofSentinels && says(err, code) {
			return what
		}
	}
	switch {
	case isPermission(err) && !ofSentinels:
		return fmt.Sprintf("allow the user what leases need: ACL SETUSER … ~{%s}:* %s", s.options.Prefix, s.rights())
	case errors.As(err, &wait):
		if wait.err != nil {
			return s.advice(wait.err)
		}
		return "see that the replicas, or the disk, keep up, ask for less (wait-replicas, wait-aof), or wait longer (wait-timeout, timeout). The change may have been made"
	case errors.As(err, &cert), errors.As(err, &unknown), errors.As(err, &record), strings.Contains(err.Error(), "tls: "):
		return "see to tls, ca, cert, key and server-name in the address, and to the server's certificate; a server without TLS has redis://, not rediss://"
	case errors.As(err, &dns):
		return "see that the name of the host is right"
	case isLate(err) && s.secure && s.name.Load() == nil: // no call has succeeded yet
		return silent + "; a server without TLS takes redis://, not rediss://"
	case ofSentinels:
		return "see that the hosts of the address are Sentinels, that they run, that they know the primary of that name (sentinel=NAME), " +
			"and that sentinel-user and sentinel-password are right"
	case isEnd(err):
		tls := "a server with TLS takes rediss://"
		if s.secure {
			tls = "a server that asks for certificates wants cert and key in the address"
		}
		return "something ended the connection: see that the server runs, has room for more clients (maxclients), and lets in clients of this machine (protected-mode); " + tls
	}
	if _, ok := errors.AsType[redis.Error](err); ok {
		return "the server answers, and refuses this: see its log"
	}
	return silent
}

const (
	adviceDisk = "free some space there, and run BGSAVE; see its log"

	// A server that is restarted with appendonly yes does not read its snapshot.
	adviceLog = "set appendonly to yes and appendfsync to always by CONFIG SET, and only then in its file (CONFIG REWRITE): " +
		"a restart that turns appendonly on begins without the data"
)

// isEnd reports whether the other side ended the connection. A server that refuses clients says why first, but
// go-redis loses the answer.
func isEnd(err error) bool {
	text := err.Error()
	return strings.HasSuffix(text, "EOF") ||
		slices.ContainsFunc([]string{"broken pipe", "connection reset", "forcibly closed"}, func(words string) bool { return strings.Contains(text, words) })
}

// isLate reports whether the time of a call was over. The socket may notice the end before the
// context does.
func isLate(err error) bool {
	var silent net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &silent) && silent.Timeout()
}
