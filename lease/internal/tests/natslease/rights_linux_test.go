package natslease_test

import (
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/natslease"
)

// TestRights: a user with the permissions of Rights alone does all that a program does. Without any of the
// permissions, the user cannot.
func TestRights(t *testing.T) {
	users := []string{"{ user: me, password: hunter2 }"}
	add := func(user, without string) {
		text, err := natslease.Rights("nats://"+user+"@h/ids", "")
		testkit.OK(t, err)
		if !strings.Contains(text, without) {
			t.Fatalf("no %q in\n%s", without, text)
		}
		if without != "" { // an empty list would allow all
			text = strings.Replace(text, without, `"x"`, 1)
		}
		users = append(users, strings.Replace(text, "\n  permissions", "\n  password: hunter2\n  permissions", 1))
	}
	add("whole", "")
	without := map[string]string{
		"w1": `"$KV.ids.>"`, "w2": `"$JS.API.STREAM.INFO.KV_ids"`, "w3": `"$JS.API.STREAM.MSG.GET.KV_ids"`, "w4": `"$JS.API.CONSUMER.CREATE.KV_ids.>"`,
		"w5": `"_INBOX.>"`,
	}
	for user, subject := range without {
		add(user, subject)
	}
	srv := start(t, "authorization { users: [\n"+strings.Join(users, "\n")+"\n] }")
	addr := func(user, timeout string) string {
		return "nats://" + user + ":hunter2@" + srv.Host() + "/ids?timeout=" + timeout
	}
	owner := storetest.Prepare(t, natslease.Open, addr("me", "2m"))
	testkit.OK(t, minter.Create(t.Context(), owner))
	use := func(user, timeout string) error {
		s, err := natslease.Open(t.Context(), addr(user, timeout))
		if err != nil {
			return err
		}
		defer s.Close()
		_, err = storetest.Program(t.Context(), s)
		return err
	}
	if err := use("whole", "2m"); err != nil {
		t.Fatal(err)
	}
	for user, subject := range without {
		t.Run(subject, func(t *testing.T) {
			t.Parallel()
			if use(user, "500ms") == nil {
				t.Error("the permission is not needed")
			}
		})
	}
	for _, v := range [][2]string{{"redis://a@h/0", ""}, {"nats://h/b", ""}, {"nats://h/b", `a"`}, {"nats://a@h/b.c", ""}, {"nats://a@h/b?domain=hub", ""}} {
		if text, err := natslease.Rights(v[0], v[1]); err == nil {
			t.Errorf("%q: %s", v, text)
		}
	}
}
