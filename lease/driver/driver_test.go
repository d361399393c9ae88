package driver_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

func TestCheckKey(t *testing.T) {
	long := strings.Repeat("x", driver.MaxName)
	for _, key := range []string{"a", "pool/workers/00007", "nanoflake@1577836800000/pool", "a.b-c_d", "0", "a/b.c", long + "/" + long} {
		if err := driver.CheckKey(key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, key := range []string{"", "/", "/a", "a/", "a//b", ".", "..", "a/../b", ".a", "a/.b", "A", "ä", "a b", "a\x00", "a=", `a\b`, "a:b", long + "x", "a/" + long + "x/b"} {
		testkit.Is(t, driver.CheckKey(key), driver.ErrKey, "%q", key)
	}
}

// A text that can name a place has no character that nobody sees, and shows its ends.
func TestCheckPlace(t *testing.T) {
	for _, text := range []string{"", "a", "/var/lib/my ids", "/größe/数据/идентификаторы", "e\u0301", "file:///a%20", "!?#&'\"\\", "😀", "/ a", "a /b"} {
		testkit.OK(t, driver.CheckPlace(text))
	}
	for text, want := range map[string]string{
		"ids\r": "the invisible character U+000D at the end", "ids \r\n": "a blank at the end", "\ufeffids": "U+FEFF at the beginning", " ids": "a blank at the beginning",
		"i\u200bds": "U+200B inside", "i ds\x00x": "U+0000 inside", "\r": "U+000D at the end", " ": "a blank at the end", "a\xa0": "not UTF-8",
		"a\u115f": "U+115F", "a\U000e0100": "U+E0100", "a\u180b": "U+180B", "a\u034f": "U+034F", "a\u2800": "U+2800", "a\U00013441": "U+13441", "a\U0001d159": "U+1D159",
		"a\ue000": "U+E000", "a\U000fffff": "U+FFFFF", "a\u0378": "U+0378", "hunter2\t@": "U+0009 inside",
	} {
		err := driver.CheckPlace(text)
		if !errors.Is(err, driver.ErrAddress) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%q: %v, without %s", text, err, want)
		}
	}
	testkit.OK(t, driver.CheckPath("/var/my ids//x/"))
	for _, path := range []string{"ids /x", "/ ids", "ids /", "/ids\r/x"} {
		testkit.Is(t, driver.CheckPath(path), driver.ErrAddress, "%q", path)
	}
}

func TestSplitAddress(t *testing.T) {
	for in, want := range map[string]string{
		"etcd://h/p": "etcd://h/p", "ETCD+x.y-1://H/P": "etcd+x.y-1://H/P", "PostgreSQL://h/d?x=postgresql://": "postgres://h/d?x=postgresql://",
		"/a": "file:///a", "/": "file:///", "/my ids/ä%20?#": "file:///my ids/ä%2520%3F%23", "/a//b/": "file:///a//b/",
		"./a": "a relative path", "../a": "a relative path", "": "neither", "a": "neither", ".": "neither", "..": "neither", "~/a": "neither", "//h/d": "neither",
		"://h": "neither", "/a://b": "neither", "./a://b": "neither", "'etcd://h'": "neither", "export FIRN_STORE=etcd://h": "neither", "FIRN_STORE=/a": "neither",
		"file:/a": "neither", "h:5432": "neither", "ids\r": "U+000D",
	} {
		scheme, rest, err := driver.SplitAddress(in)
		if got := scheme + "://" + rest; err == nil && got != want || err != nil && (!errors.Is(err, driver.ErrAddress) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
	windows := runtime.GOOS == "windows"
	for in, want := range map[string]string{`C:\a b`: "file:///C:/a b", "C:/a": "file:///C:/a", "C:a": "", `\\host\share`: ""} {
		scheme, rest, err := driver.SplitAddress(in)
		if got := scheme + "://" + rest; windows && want != "" && got != want || (!windows || want == "") && !errors.Is(err, driver.ErrAddress) {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

func TestError(t *testing.T) {
	err := error(&driver.Error{Store: "memory", Op: "put", Key: "a/b", Err: driver.ErrUnavailable})
	if want := "memory: put a/b: store unavailable"; err.Error() != want || !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("%v, want %s", err, want)
	}
	if got := (&driver.Error{Store: "memory", Op: "list", Err: driver.ErrVersion}).Error(); got != "memory: list: written by another version" {
		t.Error(got)
	}
}

// TestRefused: a store that refuses the program is unavailable, in the same words, and not the other way round.
func TestRefused(t *testing.T) {
	err := fmt.Errorf("%w: no such user", driver.ErrRefused)
	if !errors.Is(err, driver.ErrUnavailable) || !errors.Is(err, driver.ErrRefused) || errors.Is(driver.ErrUnavailable, driver.ErrRefused) || err.Error() != "store unavailable: no such user" {
		t.Error(err)
	}
}

func TestWorstFirst(t *testing.T) {
	var got strings.Builder
	for _, f := range driver.WorstFirst([]driver.Finding{{Text: "a"}, {Text: "b", Loses: true}, {Text: "c", Blocks: true}, {Text: "d", Loses: true}}) {
		got.WriteString(f.Text)
	}
	if got.String() != "bdca" {
		t.Errorf("%s, want bdca", got.String())
	}
}
