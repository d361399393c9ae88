package etcdlease

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

func TestKnownBad(t *testing.T) {
	for version, want := range map[string]bool{
		"3.3.27": true, "3.4.0": true, "3.4.21": true, "3.4.22": false, "3.4.30": false, "3.5.0": true, "3.5.2": true, "3.5.5": true,
		"3.5.6": false, "3.5.21": false, "3.6.0": false, "3.7.3": false, "3.7.0-rc.0": false, "3.5.0-alpha": true, "4.0.0": false, "2.3.8": false,
		"": false, "3": false, "3.5": false, "x.y.z": false,
	} {
		if got := knownBad(version); got != want {
			t.Errorf("%q: %v", version, got)
		}
	}
}

func TestVersions(t *testing.T) {
	one := func(name, version string) *member {
		return &member{Member: &pb.Member{Name: name}, answer: answer{status: &clientv3.StatusResponse{Version: version}}}
	}
	down := &member{Member: &pb.Member{Name: "down"}}
	for _, c := range []struct {
		members []*member
		want    []string
	}{
		{[]*member{one("a", "3.7.3"), one("b", "3.7.3"), down}, nil},
		{[]*member{one("a", "3.7.3"), one("b", "3.6.5"), one("c", "3.7.3")}, []string{"the members are of different versions: 3.6.5, 3.7.3"}},
		{[]*member{one("a", "3.5.1"), one("b", "3.7.3")}, []string{
			"member a is etcd 3.5.1, which can come to differ from the others by a crash or a defragmentation",
			"the members are of different versions: 3.5.1, 3.7.3"}},
	} {
		i := &inspection{members: c.members}
		i.versions()
		if len(i.All()) != len(c.want) {
			t.Errorf("%+v, want %q", i.All(), c.want)
			continue
		}
		for n, f := range i.All() {
			if f.Text != c.want[n] || f.Loses != (n == 0 && len(c.want) == 2) {
				t.Errorf("%+v, want %q", f, c.want[n])
			}
		}
	}
}

func TestEndpoints(t *testing.T) {
	for endpoint, want := range map[string]bool{
		"localhost:2379": false, "127.0.0.1:2379": false, "127.1.2.3:1": false, "[::1]:2379": false, "10.0.0.1:2379": true,
		"etcd.example:2379": true, "localhost.example:2379": true, "[2001:db8::1]:2379": true,
	} {
		if isRemote(endpoint) != want {
			t.Errorf("%s is on another machine: %v", endpoint, !want)
		}
	}
	for endpoint, want := range map[string]string{"a:1": "a:1", "http://a:1": "a:1", "https://a:1": "a:1"} {
		if got := hostOf(endpoint); got != want {
			t.Errorf("the host of %s is %s", endpoint, got)
		}
	}
}
