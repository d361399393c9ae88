package natslease_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/firn-id/firn/internal/testing/advice"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/natslease"
)

// versions are faults of the versions of servers. The servers have other versions through proxies.
func (b *bed) versions(t *testing.T) []advice.Fault {
	synced := start(t)
	if raw(t, "nats://"+synced.Host()).old() {
		// The server would refuse the setting.
		synced = nil
	} else {
		synced.Kill()
		synced.configure(synced.Port, fmt.Sprintf("jetstream { store_dir: %q, sync_interval: always }", t.TempDir()))
		synced.Run()
	}
	called := func(t *testing.T, version string, settings ...string) string {
		return storetest.Patient(at("nats://"+b.srv.called(t, version), "made", settings...))
	}
	set := func(t *testing.T) error {
		addr := called(t, "2.11.", "sync-always=true")
		if synced != nil {
			addr = synced.address("sync-always=true")
		}
		return errors.Join(creates(t, addr), gone(t, addr, "sync"))
	}
	const always = "set sync_interval: always in the jetstream section of the servers' configuration, then repeat it in the address, sync-always=true"
	return []advice.Fault{
		{Name: "an old server", Meet: func(t *testing.T) string { return advice.Text(t, opens(t, called(t, "2.8."))) }, Ways: advice.Ways{
			"use NATS 2.9 or later": func(t *testing.T) error { return opens(t, b.address("made")) },
		}},
		{Name: "a server without sync_interval", Meet: func(t *testing.T) string { return finding(t, called(t, "2.9."), cannotSync) }, Ways: advice.Ways{
			"use NATS 2.10 or later on all servers, " + always: set,
		}},
		{Name: "a server with sync_interval", Meet: func(t *testing.T) string { return finding(t, called(t, "2.11."), "unless the servers have") }, Ways: advice.Ways{always: set}},
	}
}

// puts puts an entry of the size.
func puts(t *testing.T, addr, key string, size int) error {
	s, err := natslease.Open(t.Context(), addr)
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.Put(t.Context(), key, make([]byte, size), driver.None)
	return err
}

// fills puts entries until a bucket is full, and returns the error.
func fills(t *testing.T, addr string) (err error) {
	for i := 0; i < 100 && err == nil; i++ {
		err = puts(t, addr, strconv.Itoa(i), driver.MaxValue)
	}
	return err
}

// limits are faults of limits of a bucket.
func (b *bed) limits() []advice.Fault {
	fault := func(name, says string, limit, raise func(c *jetstream.StreamConfig)) advice.Fault {
		bucket := b.fresh()
		return advice.Fault{Name: name, Meet: func(t *testing.T) string {
			b.make(t, bucket, limit)
			return advice.Text(t, fills(t, b.address(bucket)))
		}, Ways: advice.Ways{says: func(t *testing.T) error {
			return errors.Join(change(t, b.raw, bucket, raise), puts(t, b.address(bucket), "more", driver.MaxValue))
		}}}
	}
	const full = "raise the bucket's max_bytes or max_msgs"
	return []advice.Fault{
		fault("max_bytes", full, func(c *jetstream.StreamConfig) { c.MaxBytes = 12_000 }, func(c *jetstream.StreamConfig) { c.MaxBytes = 24_000 }),
		fault("max_msgs", full, func(c *jetstream.StreamConfig) { c.MaxMsgs = 1 }, func(c *jetstream.StreamConfig) { c.MaxMsgs = 2 }),
		fault("max_msg_size", "raise the bucket's max_msg_size", func(c *jetstream.StreamConfig) { c.MaxMsgSize = 1000 }, func(c *jetstream.StreamConfig) { c.MaxMsgSize = 2 * driver.MaxValue }),
	}
}

// configurations are faults of the configuration of a server. Each way starts the server with another configuration.
func configurations(t *testing.T) []advice.Fault {
	srv := start(t)
	testkit.OK(t, creates(t, srv.address()))
	account := func(settings string) string {
		return "accounts { a { " + settings + "\n users: [ { user: me, password: hunter2 } ] } }\nno_auth_user: me"
	}
	// fault calls do with a configuration, and with the mended one.
	fault := func(name, config, says, mended string, do func(t *testing.T, addr string) error) advice.Fault {
		return advice.Fault{Name: name, Meet: func(t *testing.T) string {
			srv.again(config)
			return advice.Text(t, do(t, srv.address()))
		}, Ways: advice.Ways{says: func(t *testing.T) error {
			srv.again(mended)
			return do(t, srv.address())
		}}}
	}
	switched := advice.Fault{Name: "no JetStream", Meet: func(t *testing.T) string {
		srv.Kill()
		srv.configure(srv.Port)
		srv.Run()
		return advice.Text(t, creates(t, srv.address()))
	}, Ways: advice.Ways{"see that JetStream is switched on in the servers' configuration": func(t *testing.T) error {
		srv.again()
		return creates(t, srv.address())
	}}}

	var permissions string
	allow := advice.Fault{Name: "no permission", Meet: func(t *testing.T) string {
		srv.again("authorization { users: [ { user: me, password: hunter2, permissions: { publish: x } } ] }\nno_auth_user: me")
		text := advice.Text(t, opens(t, storetest.With(at("nats://"+srv.Host(), "firn"), "timeout=500ms")))
		_, list, _ := strings.Cut(text, "publish to ")
		list, subscribe, _ := strings.Cut(list, ", and to subscribe to ")
		permissions = fmt.Sprintf("publish: [ %q ], subscribe: %q", strings.Split(strings.Replace(list, " and ", ", ", 1), ", "), subscribe)
		permissions = strings.NewReplacer("[ [", "[", "] ]", "]", `" "`, `", "`).Replace(permissions)
		return text
	}, Ways: advice.Ways{"allow the user to publish to $KV.firn.>": func(t *testing.T) error {
		srv.again("authorization { users: [ { user: me, password: hunter2, permissions: { " + permissions + " } } ] }\nno_auth_user: me")
		return errors.Join(creates(t, srv.address()), mints(t, srv.address()))
	}}}

	var held *nats.Conn
	crowded := func(t *testing.T) string {
		srv.again("max_connections: 1")
		wait.Until(t, "the server has no other connection", func() bool {
			var err error
			held, err = nats.Connect("nats://"+srv.Host(), nats.NoReconnect())
			return err == nil
		})
		t.Cleanup(held.Close)
		var text string
		wait.Until(t, "the client reads why the server refuses", func() bool {
			text = advice.Text(t, opens(t, srv.address()))
			return strings.Contains(text, "connections")
		})
		return text
	}
	connections := advice.Fault{Name: "many connections", Meet: crowded, Ways: advice.Ways{
		"have fewer connections": func(t *testing.T) error {
			held.Close()
			// The server takes a moment to notice.
			var err error
			wait.For(func() bool { err = opens(t, srv.address()); return err == nil })
			return err
		},
		"or raise the server's or the account's limit": func(t *testing.T) error {
			srv.again("max_connections: 10")
			other, err := nats.Connect("nats://" + srv.Host())
			testkit.OK(t, err)
			defer other.Close()
			return opens(t, srv.address())
		},
	}}

	one, two := storetest.Patient(at("nats://"+srv.Host(), "one")), storetest.Patient(at("nats://"+srv.Host(), "two"))
	fill := func(t *testing.T) string {
		srv.again(account("jetstream { max_store: 30000 }"))
		storetest.Prepare(t, natslease.Open, one)
		storetest.Prepare(t, natslease.Open, two)
		fills(t, one)
		return advice.Text(t, puts(t, two, "0", driver.MaxValue))
	}
	storage := advice.Fault{Name: "storage", Meet: fill, Ways: advice.Ways{
		"free some": func(t *testing.T) error {
			return errors.Join(raw(t, "nats://"+srv.Host()).js.DeleteStream(t.Context(), "KV_one"), puts(t, two, "0", driver.MaxValue))
		},
		"or raise its limits": func(t *testing.T) error {
			testkit.OK(t, raw(t, "nats://"+srv.Host()).js.DeleteStream(t.Context(), "KV_two"))
			fill(t)
			srv.again(account("jetstream { max_store: 60000 }"))
			return puts(t, two, "0", driver.MaxValue)
		},
	}}

	forgotten := advice.Fault{Name: "lost changes", Meet: func(t *testing.T) string {
		srv.again()
		testkit.OK(t, creates(t, srv.address()))
		open := func() *natslease.Store { return storetest.Open(t, natslease.Open, srv.address()) }
		_, err := storetest.Forgotten(t, open, filepath.Join(filepath.Dir(srv.file), "jetstream"), srv.Kill, srv.Run).Get(t.Context(), "a")
		return advice.Text(t, err)
	}, Ways: advice.Ways{
		"stop all processes that use its pools, and rescue the pools before any of them is started again": func(t *testing.T) error { return rescued(t, srv.address(), true) },
	}}

	return []advice.Fault{
		{Name: "no server", Meet: func(t *testing.T) string {
			srv.Kill()
			return advice.Text(t, opens(t, srv.address()))
		}, Ways: advice.Ways{"see that the servers run, and that the network lets through to them": func(t *testing.T) error {
			srv.Run()
			return opens(t, srv.address())
		}}},
		switched, allow, connections, storage, forgotten,
		fault("an account without JetStream", account(""), "switch JetStream on for the user's account", account("jetstream: enabled"), creates),
		fault("max_payload", "max_payload: 2000", "raise max_payload in the servers' configuration", "max_payload: 8000", func(t *testing.T, addr string) error {
			storetest.Prepare(t, natslease.Open, addr)
			return puts(t, addr, "large", driver.MaxValue)
		}),
	}
}

// certificates are faults of TLS.
func certificates(t *testing.T) []advice.Fault {
	cert, key := storetest.Certify(t)
	secure := func(cert, key string) string {
		return fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }", cert, key, cert)
	}
	srv, plain := start(t, secure(cert, key)), start(t)
	ca, own := "ca="+cert, []string{"cert=" + cert, "key=" + key}
	mended := func(t *testing.T) error { return opens(t, srv.address(append(own, ca)...)) }
	prepare := func(t *testing.T, addr string) { storetest.Prepare(t, natslease.Open, addr) }
	prepare(t, srv.address(append(own, ca)...))
	prepare(t, plain.address())
	const says = "see to tls, ca, cert, key and server-name in the address, and to the server's certificate"
	fault := func(name, addr string, mended func(t *testing.T) error) advice.Fault {
		return advice.Fault{Name: name, Meet: func(t *testing.T) string { return advice.Text(t, opens(t, addr)) }, Ways: advice.Ways{says: mended}}
	}
	return []advice.Fault{
		fault("no tls", srv.address(), mended),
		fault("ca", srv.address(append(own, "tls=true")...), mended),
		fault("cert and key", srv.address(ca), mended),
		fault("server-name", srv.address(append(own, ca, "server-name=other")...), mended),
		fault("a server without TLS", plain.address("tls=true"), func(t *testing.T) error { return opens(t, plain.address()) }),
	}
}

// clusters are faults of a cluster of three servers, and of a cluster that has lost two of them. The last fault of the
// whole cluster ends the two servers: the server that is left takes ten seconds to give up, in which a test can go on.
func (b *bed) clusters(t *testing.T) (whole, broken []advice.Fault) {
	servers, hosts, _ := cluster(t, 3)
	address := func(bucket string, settings ...string) string {
		return storetest.Patient(at("nats://"+strings.Join(hosts, ","), bucket, settings...))
	}
	// tries calls do again and again, until do returns no error. The address has a short time-out: servers without a leader do not answer.
	tries := func(bucket string, do func(addr string) error) (err error) {
		wait.For(func() bool { err = do(at("nats://"+strings.Join(hosts, ","), bucket, "timeout=1s")); return err == nil })
		return err
	}
	c := raw(t, "nats://"+strings.Join(hosts, ",nats://"))

	// small is a finding about a bucket with a number of replicas.
	small := func(bucket string, replicas int, word, says string, mend func(t *testing.T, text string) error) advice.Fault {
		text := ""
		return advice.Fault{Name: word, Meet: func(t *testing.T) string {
			testkit.OK(t, creates(t, address(bucket, "replicas="+strconv.Itoa(replicas))))
			text = finding(t, address(bucket), word)
			return text
		}, Ways: advice.Ways{says: func(t *testing.T) error {
			return errors.Join(mend(t, text), tries(bucket, func(addr string) error { return errors.Join(gone(t, addr, word), mints(t, addr)) }))
		}}}
	}
	// synced is a finding about the disks of the servers.
	synced := func(version string) advice.Fault {
		called := func(t *testing.T, version string, settings ...string) string {
			return storetest.Patient(at("nats://"+servers[0].called(t, version), "firn", settings...))
		}
		return advice.Fault{Name: version, Meet: func(t *testing.T) string { return finding(t, called(t, version), "sync") }, Ways: advice.Ways{
			"use NATS 2.10.23 or later on all servers, set sync_interval: always": func(t *testing.T) error { return gone(t, called(t, "2.11.", "sync-always=true"), "sync") },
		}}
	}
	whole = []advice.Fault{
		{Name: "five replicas", Meet: func(t *testing.T) string {
			testkit.OK(t, tries("firn", func(addr string) error { return creates(t, addr) }))
			return advice.Text(t, creates(t, address("five", "replicas=5")))
		}, Ways: advice.Ways{
			"see replicas in the address": func(t *testing.T) error { return creates(t, address("five", "replicas=3")) },
		}},
		small("two", 2, "is on 2 servers", "set its replicas to 3 or 5", func(t *testing.T, _ string) error {
			return change(t, c, "two", func(c *jetstream.StreamConfig) { c.Replicas = 3 })
		}),
		small("one", 1, "on one server alone", "and set the bucket's replicas to 3", func(t *testing.T, text string) error { return typed(t, c, text) }),
		synced("2.9."), synced("2.10."),
		{Name: "no cluster", Meet: func(t *testing.T) string { return finding(t, b.address("made"), "on one server alone") }, Ways: advice.Ways{
			move: func(t *testing.T) error {
				err := errors.Join(rescued(t, address("moved"), true), gone(t, address("moved"), "on one server alone"))
				servers[1].Kill()
				servers[2].Kill()
				return err
			},
		}},
	}
	broken = []advice.Fault{
		{Name: "no majority", Meet: func(t *testing.T) string {
			var err error
			wait.Until(t, "the server that is left gives up", func() bool {
				err = opens(t, at("nats://"+hosts[0], "firn", "timeout=1s"))
				return err != nil && strings.Contains(err.Error(), "leader")
			})
			return advice.Text(t, err)
		}, Ways: advice.Ways{"wait until the servers have a leader; see that a majority of them runs": func(t *testing.T) error {
			servers[1].Run()
			return tries("firn", func(addr string) error { return mints(t, addr) })
		}}},
		// The other server is still down.
		{Name: "a minority", Meet: func(t *testing.T) string {
			testkit.OK(t, tries("firn", func(addr string) error { return opens(t, addr) }))
			return finding(t, address("firn"), "do not keep up, or are down")
		}, Ways: advice.Ways{"see to them": func(t *testing.T) error {
			servers[2].Run()
			return tries("firn", func(addr string) error { return gone(t, addr, "do not keep up") })
		}}},
	}
	return whole, broken
}
