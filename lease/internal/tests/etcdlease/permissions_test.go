package etcdlease_test

import (
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/etcdlease"
)

// TestPermissions: on a real cluster, a user with the rights of Permissions alone does all that a program does, and
// nothing outside of the prefix. The commands of etcdctl are calls of the client here.
func TestPermissions(t *testing.T) {
	services.Full(t)
	turn.Take(t)
	cluster := etcdtest.New(t, etcdtest.Config{Members: 1})
	raw, err := clientv3.New(clientv3.Config{Endpoints: cluster.Endpoints()})
	testkit.OK(t, err)
	defer raw.Close()
	ctx := t.Context()
	addr := func(user, prefix string) string {
		return "etcd://" + user + cluster.Endpoint(0) + "/" + prefix + "?timeout=2m"
	}
	testkit.OK(t, minter.Create(ctx, storetest.Open(t, etcdlease.Open, addr("", "ids"))))

	text, err := etcdlease.Permissions(addr("orders@", "ids"), "")
	testkit.OK(t, err)
	do := func(_ any, err error) { t.Helper(); testkit.OK(t, err) }
	do(raw.UserAdd(ctx, "root", password))
	do(raw.RoleAdd(ctx, "root"))
	do(raw.UserGrantRole(ctx, "root", "root"))
	do(raw.UserAdd(ctx, "orders", password))
	commands := 0
	for line := range strings.Lines(text) {
		word := strings.Fields(line)
		if word[0] != "etcdctl" {
			continue
		}
		commands++
		switch strings.Join(word[1:3], " ") {
		case "role add":
			do(raw.RoleAdd(ctx, word[3]))
		case "role grant-permission":
			if word[4] != "--prefix=true" || word[5] != "readwrite" {
				t.Fatalf("%q", line)
			}
			do(raw.RoleGrantPermission(ctx, word[3], word[6], clientv3.GetPrefixRangeEnd(word[6]), clientv3.PermissionType(clientv3.PermReadWrite)))
		case "user grant-role":
			do(raw.UserGrantRole(ctx, word[3], word[4]))
		default:
			t.Fatalf("%q", line)
		}
	}
	if commands != 3 {
		t.Fatalf("%d commands in\n%s", commands, text)
	}
	do(raw.AuthEnable(ctx))

	s := storetest.Open(t, etcdlease.Open, addr("orders:"+password+"@", "ids"))
	if _, err := storetest.Program(ctx, s); err != nil {
		t.Error(err)
	}
	_, err = etcdlease.Open(ctx, addr("orders:"+password+"@", "id"))
	storetest.Fails(t, "a prefix of the prefix", err, driver.ErrRefused, "permission denied")

	for _, v := range [][2]string{{"redis://a@h/0", ""}, {"etcd://h/p", ""}, {"etcd://h/p", "a;b"}, {"etcd://a@h/p%0aq", ""}} {
		if text, err := etcdlease.Permissions(v[0], v[1]); err == nil {
			t.Errorf("%q: %s", v, text)
		}
	}
	if text, err := etcdlease.Permissions("etcd://a@h/it's $(x)", ""); err != nil || !strings.Contains(text, `readwrite 'it'\''s $(x)/'`) {
		t.Errorf("%s, %v", text, err)
	}
}
