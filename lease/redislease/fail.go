package redislease

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

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

// diagnose returns what helps against an error, and the kind of the error.
func (s *Store) diagnose(err error) (driver.Remedy, error) {
	if errors.Is(err, driver.ErrDamaged) {
		return "", driver.ErrDamaged
	}
	kind := driver.ErrUnavailable
	if isPermission(err) || slices.ContainsFunc(refusals, func(code string) bool { return says(err, code) }) {
		kind = driver.ErrRefused
	}
	return remedyFor(err), kind
}

// refusals begin the errors of a server that refuses the user or the address.
var refusals = []string{"WRONGPASS", "NOAUTH", "WRONGTYPE", "MOVED", "CROSSSLOT", "ERR DB index", "ERR This instance has clust", "ERR SELECT is not allowed"}

// remedies are what helps against errors of the server, by their beginnings.
var remedies = map[string]driver.Remedy{
	"WRONGPASS":                   driver.RemedyPermissions,
	"NOAUTH":                      driver.RemedyPermissions,
	"LOADING":                     driver.RemedyWait,
	"READONLY":                    driver.RemedyAddress, // a replica
	"MASTERDOWN":                  driver.RemedyAddress, // a replica without its primary
	"WRONGTYPE":                   driver.RemedyMove,    // the key belongs to something else
	"MOVED":                       driver.RemedyAddress, // without cluster=true
	"CROSSSLOT":                   driver.RemedyAddress, // without cluster=true
	"CLUSTERDOWN":                 driver.RemedyConnect, // servers are down, or do not agree
	"ERR DB index":                driver.RemedyAddress,
	"ERR This instance has clust": driver.RemedyAddress, // with cluster=true
	"ERR SELECT is not allowed":   driver.RemedyAddress, // a Cluster has no database but 0
}

func remedyFor(err error) driver.Remedy {
	var (
		server  redis.Error
		wait    *waitError
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		record  tls.RecordHeaderError
	)
	switch {
	// The errors of Sentinels have codes, too, which say nothing of the server.
	case strings.Contains(err.Error(), "sentinels"):
		return driver.RemedyAddress
	case isPermission(err):
		return driver.RemedyPermissions
	case errors.As(err, &server):
		for code, remedy := range remedies {
			if says(err, code) {
				return remedy
			}
		}
		return driver.RemedySettings
	case errors.As(err, &wait):
		if wait.err != nil {
			return remedyFor(wait.err)
		}
		return driver.RemedySettings
	case errors.As(err, &cert), errors.As(err, &unknown), errors.As(err, &record), errors.As(err, &dns), strings.Contains(err.Error(), "tls: "):
		return driver.RemedyAddress
	}
	return ""
}
