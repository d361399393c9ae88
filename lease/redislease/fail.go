package redislease

import (
	"errors"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
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

// An answer begins the errors of a server for one reason.
type answer struct {
	start   string
	remedy  driver.Remedy
	refused bool // the user, or the address
}

var answers = []answer{
	{"WRONGPASS", driver.RemedyPermissions, true},
	{"NOAUTH", driver.RemedyPermissions, true},
	{"LOADING", driver.RemedyWait, false},
	{"READONLY", driver.RemedyAddress, false},    // a replica
	{"MASTERDOWN", driver.RemedyAddress, false},  // a replica without its primary
	{"WRONGTYPE", driver.RemedyMove, true},       // the key belongs to something else
	{"MOVED", driver.RemedyAddress, true},        // without cluster=true
	{"CROSSSLOT", driver.RemedyAddress, true},    // without cluster=true
	{"CLUSTERDOWN", driver.RemedyConnect, false}, // servers are down, or do not agree
	{"ERR DB index", driver.RemedyAddress, true},
	{"ERR This instance has clust", driver.RemedyAddress, true}, // with cluster=true
	{"ERR SELECT is not allowed", driver.RemedyAddress, true},   // a Cluster has no database but 0
}

// diagnose returns what helps against an error, and the kind of the error.
func (s *Store) diagnose(err error) (driver.Remedy, error) {
	wait, _ := errors.AsType[*waitError](err)
	if wait != nil && wait.err != nil {
		err = wait.err
	}
	var known answer
	if i := slices.IndexFunc(answers, func(a answer) bool { return says(err, a.start) }); i >= 0 {
		known = answers[i]
	}
	kind := driver.ErrUnavailable
	if known.refused || isPermission(err) {
		kind = driver.ErrRefused
	}
	switch {
	case errors.Is(err, driver.ErrDamaged):
		return "", driver.ErrDamaged
	case strings.Contains(err.Error(), "sentinels"): // their errors have codes, too, which say nothing of the server
		return driver.RemedyAddress, kind
	case isPermission(err):
		return driver.RemedyPermissions, kind
	case known.start != "":
		return known.remedy, kind
	case errors.As(err, new(redis.Error)), wait != nil && wait.err == nil:
		return driver.RemedySettings, kind
	case address.AtFault(err):
		return driver.RemedyAddress, kind
	}
	return "", kind
}
