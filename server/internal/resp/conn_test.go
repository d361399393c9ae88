package resp

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/server/internal/supply"
	"github.com/firn-id/firn/server/internal/supply/supplytest"
)

// A network is a way from a client to a Server.
type network struct {
	name string
	open func(t testing.TB, s *Server) (dial func() net.Conn)
}

var networks = []network{
	{"tcp", func(t testing.TB, s *Server) func() net.Conn { return over(t, s, "tcp", "127.0.0.1:0", nil) }},
	{"unix", func(t testing.TB, s *Server) func() net.Conn {
		return over(t, s, "unix", filepath.Join(t.TempDir(), "s"), nil)
	}},
	{"tls", func(t testing.TB, s *Server) func() net.Conn {
		_, _, own := storetest.Sign(t, nil, &x509.Certificate{})
		return over(t, s, "tcp", "127.0.0.1:0", own)
	}},
}

// over serves a Server, and ends it with the test.
func over(t testing.TB, s *Server, kind, addr string, cert *tls.Certificate) func() net.Conn {
	t.Helper()
	l, err := net.Listen(kind, addr)
	testkit.OK(t, err)
	if cert != nil {
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{*cert}})
	}
	t.Cleanup(func() {
		l.Close()
		drain(t, s)
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.ServeConn(c, nil, func() {})
		}
	}()
	return func() net.Conn {
		c, err := net.Dial(kind, l.Addr().String())
		testkit.OK(t, err)
		if cert != nil {
			c = tls.Client(c, &tls.Config{InsecureSkipVerify: true})
		}
		c.SetDeadline(time.Now().Add(wait.Patience))
		t.Cleanup(func() { c.Close() })
		return c
	}
}

// drain ends a Server, unless it has ended.
func drain(t testing.TB, s *Server) {
	t.Helper()
	if s.draining.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait.Patience)
	defer cancel()
	if err := s.Drain(ctx); err != nil {
		t.Error(err)
	}
}

// A value is an answer: the kind, the text, and the elements.
type value struct {
	kind  byte
	text  string
	parts []value
}

// readValue reads one answer, as a client does.
func readValue(r *bufio.Reader) (value, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return value{}, err
	}
	if len(line) < 3 || !strings.HasSuffix(line, "\r\n") || strings.ContainsRune(line[:len(line)-2], '\r') {
		return value{}, fmt.Errorf("the line %q", line)
	}
	v := value{kind: line[0], text: line[1 : len(line)-2]}
	n, bad := strconv.Atoi(v.text)
	switch v.kind {
	case '+', '-':
	case ':', '(':
		_, err := strconv.ParseInt(v.text, 10, 64)
		return v, err
	case '_':
	case '$':
		if bad != nil || n < -1 {
			return v, fmt.Errorf("the length %q", line)
		}
		if n < 0 {
			return v, nil
		}
		b := make([]byte, n+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return v, err
		}
		if string(b[n:]) != "\r\n" {
			return v, fmt.Errorf("no CRLF behind %q", b)
		}
		v.text = string(b[:n])
	case '*', '%':
		if v.kind == '%' {
			n *= 2
		}
		if bad != nil || n < -1 {
			return v, fmt.Errorf("the length %q", line)
		}
		for range n {
			part, err := readValue(r)
			if err != nil {
				return v, err
			}
			v.parts = append(v.parts, part)
		}
	default:
		return v, fmt.Errorf("the kind %q", line)
	}
	return v, nil
}

// send writes, and reads n answers.
func send(t testing.TB, c net.Conn, r *bufio.Reader, text string, n int) []value {
	t.Helper()
	testkit.OK(t, testkit.Err(io.WriteString(c, text)))
	var all []value
	for range n {
		v, err := readValue(r)
		if err != nil {
			t.Fatalf("%.60q, after %d answers: %v", text, len(all), err)
		}
		all = append(all, v)
	}
	return all
}

// ask sends one command, and returns the answer.
func ask(t testing.TB, c net.Conn, r *bufio.Reader, words ...string) value {
	t.Helper()
	return send(t, c, r, frameOf(words...), 1)[0]
}

// fixed are commands whose answers are always the same, in the order of a connection.
var fixed = []struct{ command, answer string }{
	{frameOf("PING"), "+PONG\r\n"},
	{frameOf("ping", "hello\r\n"), "$7\r\nhello\r\n\r\n"},
	{frameOf("EcHo", ""), "$0\r\n\r\n"},
	{frameOf("ECHO", "*1\r\n$4\r\nQUIT\r\n"), "$14\r\n*1\r\n$4\r\nQUIT\r\n\r\n"},
	{frameOf("ECHO"), "-ERR request: wrong number of arguments for ECHO: ECHO text\r\n"},
	{frameOf("PING", "a", "b"), "-ERR request: wrong number of arguments for PING: PING [text]\r\n"},
	{frameOf("INCR"), "-ERR request: wrong number of arguments for INCR: INCR key\r\n"},
	{frameOf("INCR", "sno"), "-ERR form: an ID of generator sno (format sno) has 10 bytes, and INCR answers with integers of 8 bytes: use FIRN.NEXT\r\n"},
	{frameOf("INCRBY", "sno", "1"), "-ERR form: an ID of generator sno (format sno) has 10 bytes, and INCRBY answers with integers of 8 bytes: use FIRN.NEXT\r\n"},
	{frameOf("INCR", "orders"), "-ERR unknown: no generator \"orders\": the generators are nanoflake, scru160, sno, snowflakesi, ulidflake, ulidflake-scalable\r\n"},
	{frameOf("INCR", ""), "-ERR unknown: no generator \"\": the generators are nanoflake, scru160, sno, snowflakesi, ulidflake, ulidflake-scalable\r\n"},
	{frameOf("INCR", "a\r\n+OK\r\n\x1b[31m\u202e\xff"), "-ERR unknown: no generator \"a\\r\\n+OK\\r\\n\\x1b[31m\\u202e\\xff\": the generators are nanoflake, scru160, sno, snowflakesi, ulidflake, ulidflake-scalable\r\n"},
	{frameOf("INCRBY", "nanoflake", "2"), "-ERR count: INCRBY takes the increment 1: for more IDs use FIRN.NEXT key count, or FIRN.RUN key count for consecutive integers\r\n"},
	{frameOf("INCRBY", "nanoflake", "0"), "-ERR count: INCRBY takes the increment 1: for more IDs use FIRN.NEXT key count, or FIRN.RUN key count for consecutive integers\r\n"},
	{frameOf("INCRBY", "nanoflake", "-1"), "-ERR count: INCRBY takes the increment 1: for more IDs use FIRN.NEXT key count, or FIRN.RUN key count for consecutive integers\r\n"},
	{frameOf("INCRBY", "nanoflake", "one"), "-ERR count: value is not an integer or out of range: the increment is 1\r\n"},
	{frameOf("INCRBY", "nanoflake", "9223372036854775808"), "-ERR count: value is not an integer or out of range: the increment is 1\r\n"},
	{frameOf("FIRN.NEXT", "nanoflake", "0"), "-ERR count: count \"0\" is no number from 1 to 1000\r\n"},
	{frameOf("FIRN.NEXT", "nanoflake", "-1"), "-ERR count: count \"-1\" is no number from 1 to 1000\r\n"},
	{frameOf("FIRN.NEXT", "nanoflake", "1001"), "-ERR count: count \"1001\" is no number from 1 to 1000\r\n"},
	{frameOf("FIRN.NEXT", "nanoflake", ""), "-ERR count: count \"\" is no number from 1 to 1000\r\n"},
	{frameOf("FIRN.NEXT", "nanoflake", "1e3"), "-ERR count: count \"1e3\" is no number from 1 to 1000\r\n"},
	{frameOf("FIRN.NEXT", "nobody"), "-ERR unknown: no generator \"nobody\": the generators are nanoflake, scru160, sno, snowflakesi, ulidflake, ulidflake-scalable\r\n"},
	{frameOf("FIRN.RUN", "nanoflake"), "-ERR request: wrong number of arguments for FIRN.RUN: FIRN.RUN name count\r\n"},
	{frameOf("FIRN.NEXT", "nanoflake", strings.Repeat("9", 500)), "-ERR count: count \"" + strings.Repeat("9", 40) + "\" is no number from 1 to 1000\r\n"},
	{frameOf("FIRN.RUN", "nanoflake", "4294967297"), "-ERR count: count \"4294967297\" is no number from 1 to 1000\r\n"},
	{frameOf("FIRN.RUN", "scru160", "2"), "-ERR form: the IDs of generator scru160 (format scru160) are no consecutive integers: use FIRN.NEXT\r\n"},
	{frameOf("FIRN.RUN", "ulidflake", "2"), "-ERR form: the IDs of generator ulidflake (format ulidflake) are no consecutive integers: use FIRN.NEXT\r\n"},
	{frameOf("FIRN.INSPECT", "nonsense"), "-ERR id: \"nonsense\" is no ID of any format\r\n"},
	{frameOf("FIRN.INSPECT", strings.Repeat("0", 200)), "-ERR id: 200 bytes are too long for an ID\r\n"},
	{frameOf("GET", "nanoflake"), "-ERR path: unknown command GET: the server keeps no values: INCR and FIRN.NEXT make a new ID each time\r\n"},
	{frameOf("set", "nanoflake", "0"), "-ERR path: unknown command SET: the server keeps no values, and an ID needs no first value: use INCR or FIRN.NEXT\r\n"},
	{frameOf("DECR", "nanoflake"), "-ERR path: unknown command DECR: IDs only grow: use INCR\r\n"},
	{frameOf("multi"), "-ERR path: unknown command MULTI: " + transactions + "\r\n"},
	{frameOf("EXEC"), "-ERR path: unknown command EXEC: " + transactions + "\r\n"},
	{frameOf("DISCARD"), "-ERR path: unknown command DISCARD: " + transactions + "\r\n"},
	{frameOf("WATCH", "sno"), "-ERR path: unknown command WATCH: " + transactions + "\r\n"},
	{frameOf("UNWATCH"), "-ERR path: unknown command UNWATCH: " + transactions + "\r\n"},
	{frameOf("FLUSHALL"), "-ERR path: unknown command \"FLUSHALL\": the commands are AUTH, CLIENT, COMMAND, ECHO, FIRN.INSPECT, FIRN.LIST, FIRN.NEXT, FIRN.RUN, HELLO, INCR, INCRBY, INFO, PING, QUIT, RESET, SELECT\r\n"},
	{frameOf(""), "-ERR path: unknown command \"\": the commands are AUTH, CLIENT, COMMAND, ECHO, FIRN.INSPECT, FIRN.LIST, FIRN.NEXT, FIRN.RUN, HELLO, INCR, INCRBY, INFO, PING, QUIT, RESET, SELECT\r\n"},
	{frameOf("SELECT", "0"), "+OK\r\n"},
	{frameOf("SELECT", "1"), "-ERR request: DB index is out of range: the server has database 0 alone\r\n"},
	{frameOf("SELECT", "zero"), "-ERR request: the index of a database is a number: the server has database 0 alone\r\n"},
	{frameOf("CLIENT", "GETNAME"), "$-1\r\n"},
	{frameOf("CLIENT", "SETNAME", "my name"), "-ERR request: Client names cannot contain spaces, newlines or special characters\r\n"},
	{frameOf("CLIENT", "SETNAME", "me"), "+OK\r\n"},
	{frameOf("CLIENT", "GETNAME"), "$2\r\nme\r\n"},
	{frameOf("CLIENT", "SETINFO", "LIB-NAME", "a-client(1.0)"), "+OK\r\n"},
	{frameOf("client", "setinfo", "lib-ver", "1.0"), "+OK\r\n"},
	{frameOf("CLIENT", "NO-EVICT", "ON"), "+OK\r\n"},
	{frameOf("CLIENT", "NO-TOUCH", "off"), "+OK\r\n"},
	{frameOf("CLIENT", "KILL", "ID", "1"), "-ERR path: CLIENT has SETINFO LIB-NAME|LIB-VER value, SETNAME name, GETNAME, ID, NO-EVICT ON|OFF and NO-TOUCH ON|OFF\r\n"},
	{frameOf("CLIENT"), "-ERR request: wrong number of arguments for CLIENT: CLIENT subcommand [value]\r\n"},
	{frameOf("AUTH", "token"), "+OK\r\n"},
	{frameOf("AUTH", "somebody", "token"), "-WRONGPASS wrong_token: the only user is default: send AUTH TOKEN\r\n"},
	{frameOf("HELLO", "4"), "-NOPROTO unsupported protocol version: use HELLO 2 or HELLO 3\r\n"},
	{frameOf("HELLO", "three"), "-ERR request: Protocol version is not an integer or out of range: use HELLO 2 or HELLO 3\r\n"},
	{frameOf("HELLO", "3", "AUTH", "default"), "-ERR request: Syntax error in HELLO option \"AUTH\": the options are AUTH default TOKEN and SETNAME name\r\n"},
	{frameOf("COMMAND", "COUNT"), ":16\r\n"},
	{frameOf("COMMAND", "INFO", "INCR", "nothing"), "*2\r\n*6\r\n$4\r\nincr\r\n:2\r\n*2\r\n+fast\r\n+write\r\n:1\r\n:1\r\n:1\r\n*-1\r\n"},
	{frameOf("COMMAND", "GETKEYS", "INCR", "a"), "-ERR path: COMMAND has COUNT, DOCS [name]..., INFO [name]... and LIST\r\n"},
	{frameOf("RESET"), "+RESET\r\n"},
	{frameOf("CLIENT", "GETNAME"), "$-1\r\n"},
}

// Commands in one piece, byte by byte, and one after the other get the same answers.
func TestCommands(t *testing.T) {
	var commands, answers string
	for _, v := range fixed {
		commands += v.command
		answers += v.answer
	}
	commands += frameOf("QUIT") + frameOf("PING")
	answers += "+OK\r\n"
	for _, network := range networks {
		dial := network.open(t, New(Config{Set: newSet(t), MaxIDs: 1000}))
		for _, step := range []int{1, 7, 1000, len(commands)} {
			if step == 1 && testing.Short() {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", network.name, step), func(t *testing.T) {
				t.Parallel()
				c := dial()
				go func() {
					for rest := commands; rest != ""; rest = rest[min(step, len(rest)):] {
						if _, err := io.WriteString(c, rest[:min(step, len(rest))]); err != nil {
							return // the server answers QUIT before the rest comes
						}
					}
				}()
				got, err := io.ReadAll(c)
				if string(got) != answers || err != nil {
					t.Errorf("%v: the answers differ %s", err, difference(string(got), answers))
				}
			})
		}
	}
}

// difference returns the place where two texts differ.
func difference(got, want string) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	from := max(i-60, 0)
	return fmt.Sprintf("at byte %d: %q, want %q", i, got[from:min(i+60, len(got))], want[from:min(i+60, len(want))])
}

// The bytes that ServeConn gets with the connection are its first bytes.
func TestStart(t *testing.T) {
	s := New(Config{Set: newSet(t)})
	defer drain(t, s)
	client, server := net.Pipe()
	go s.ServeConn(server, []byte(frameOf("PING")+"*1\r\n$4\r\nPI"), func() {})
	r := bufio.NewReader(client)
	first, err := readValue(r)
	testkit.OK(t, err)
	if v := append([]value{first}, send(t, client, r, "NG\r\n"+frameOf("ECHO", "a"), 2)...); v[0].text != "PONG" || v[1].text != "PONG" || v[2].text != "a" {
		t.Error(v)
	}
	client.Close()
}

// A malformed command is answered with an error, after the commands before it, and ends the connection without a reset.
// Nothing behind it is a command.
func TestMalformed(t *testing.T) {
	for _, network := range networks {
		t.Run(network.name, func(t *testing.T) {
			s := New(Config{Set: newSet(t)})
			dial := network.open(t, s)
			for _, v := range malformed {
				c := dial()
				go io.WriteString(c, frameOf("PING")+v.bytes+frameOf("INCR", "nanoflake"))
				got, err := io.ReadAll(c)
				if !strings.HasPrefix(string(got), "+PONG\r\n-ERR request: Protocol error: "+v.want) || bytes.Count(got, []byte("\n")) != 2 || err != nil {
					t.Errorf("%.40q: %q, %v", v.bytes, got, err)
				}
				c.Close()
			}
		})
	}
}

func TestIDs(t *testing.T) {
	for _, network := range networks {
		t.Run(network.name, func(t *testing.T) {
			dial := network.open(t, New(Config{Set: newSet(t)}))
			c := dial()
			r := bufio.NewReader(c)
			seen := map[string]bool{}
			see := func(id string) {
				t.Helper()
				if seen[id] {
					t.Fatalf("the ID %s came twice", id)
				}
				seen[id] = true
			}
			// A pipeline of the same command, of others, and of keys of a pattern.
			const n = 3000
			var pipeline strings.Builder
			for i := range n {
				switch {
				case i%100 == 50:
					pipeline.WriteString(frameOf("INCRBY", "nanoflake", "1"))
				case i%100 > 50:
					pipeline.WriteString(frameOf("incr", "order:"+strconv.Itoa(i)))
				default:
					pipeline.WriteString(frameOf("INCR", "nanoflake"))
				}
			}
			last := int64(0)
			for _, v := range send(t, c, r, pipeline.String(), n) {
				id, err := strconv.ParseInt(v.text, 10, 64)
				if v.kind != ':' || err != nil || id <= last {
					t.Fatalf("%v after %d", v, last)
				}
				last = id
				see(v.text)
			}
			for _, s := range []string{"nanoflake", "scru160", "sno", "snowflakesi", "ulidflake", "ulidflake-scalable"} {
				one, many := ask(t, c, r, "FIRN.NEXT", s), ask(t, c, r, "FIRN.NEXT", s, "500")
				if one.kind != '$' || many.kind != '*' || len(many.parts) != 500 {
					t.Fatalf("%s: %v, %d texts", s, one, len(many.parts))
				}
				for _, v := range append(many.parts, one) {
					see(v.text)
					var read struct{ Format, ID string }
					if got := ask(t, c, r, "FIRN.INSPECT", v.text, s); json.Unmarshal([]byte(got.text), &read) != nil || read.Format != s || read.ID != v.text {
						t.Fatalf("%s: inspecting %s: %v", s, v.text, got)
					}
					if testing.Short() {
						break
					}
				}
			}
			for _, s := range []string{"nanoflake", "snowflakesi"} {
				run := ask(t, c, r, "FIRN.RUN", s, "100")
				first, err := strconv.ParseUint(run.parts[0].text, 10, 64)
				count, err2 := strconv.Atoi(run.parts[1].text)
				if err != nil || err2 != nil || count < 1 || count > 100 {
					t.Fatal(run)
				}
				for i := range uint64(count) {
					see(string(binary.BigEndian.AppendUint64(nil, first+i)))
				}
			}
		})
	}
}

// The candidates of FIRN.INSPECT are those of firn inspect --json.
func TestInspect(t *testing.T) {
	dial := networks[0].open(t, New(Config{Set: newSet(t)}))
	c := dial()
	r := bufio.NewReader(c)
	one := `{"format":"nanoflake","id":"0549x5l2itvr4","int":"673740726894358528","hex":"09599b9f19407000","time":"2026-02-03T04:05:06.789Z","unix_ms":1770091506789,"fields":{"timestamp":160632306789,"generator_id":7,"sequence":0}}`
	if v := ask(t, c, r, "FIRN.INSPECT", "0549x5l2itvr4"); v.text != one {
		t.Error(v.text)
	}
	v := ask(t, c, r, "FIRN.INSPECT", "673740726894358528")
	if !strings.HasPrefix(v.text, `{"input":"673740726894358528","candidates":[{"format":"`) || !strings.Contains(v.text, one) {
		t.Error(v.text)
	}
}

// After HELLO 3, clients in JavaScript get IDs above 2^53 as big numbers, and no others do.
func TestBigNumbers(t *testing.T) {
	dial := networks[0].open(t, New(Config{Set: newSet(t)}))
	for _, v := range []struct {
		set   []string
		hello string
		key   string
		want  byte
	}{
		{[]string{"CLIENT", "SETINFO", "LIB-NAME", "node-redis"}, "3", "nanoflake", '('},
		{[]string{"CLIENT", "SETINFO", "LIB-NAME", "ioredis(v5)"}, "3", "nanoflake", '('},
		{[]string{"CLIENT", "SETNAME", "ioredis"}, "3", "nanoflake", '('},
		{[]string{"CLIENT", "SETINFO", "LIB-NAME", "node-redis"}, "3", "snowflakesi", ':'}, // below 2^53
		{[]string{"CLIENT", "SETINFO", "LIB-NAME", "node-redis"}, "2", "nanoflake", ':'},
		{[]string{"CLIENT", "SETINFO", "LIB-NAME", "go-redis"}, "3", "nanoflake", ':'},
		{[]string{"CLIENT", "SETINFO", "LIB-VER", "node-redis"}, "3", "nanoflake", ':'},
	} {
		for _, helloFirst := range []bool{true, false} {
			c := dial()
			r := bufio.NewReader(c)
			if helloFirst {
				ask(t, c, r, "HELLO", v.hello)
			}
			ask(t, c, r, v.set...)
			if !helloFirst {
				ask(t, c, r, "HELLO", v.hello)
			}
			if got := ask(t, c, r, "INCR", v.key); got.kind != v.want {
				t.Errorf("%q, HELLO %s first: %v, INCR %s: %c%s", v.set, v.hello, helloFirst, v.key, got.kind, got.text)
			}
			c.Close()
		}
	}
}

// Maps and nulls are those of the protocol.
func TestHello(t *testing.T) {
	dial := networks[0].open(t, New(Config{Set: newSet(t), Version: "1.2.3"}))
	c := dial()
	r := bufio.NewReader(c)
	for _, v := range []struct {
		version string
		kind    byte
	}{{"2", '*'}, {"3", '%'}, {"2", '*'}} {
		got := ask(t, c, r, "HELLO", v.version, "SETNAME", "me")
		if got.kind != v.kind || len(got.parts) != 14 || got.parts[3].text != "1.2.3" || got.parts[5].text != v.version {
			t.Errorf("HELLO %s: %v", v.version, got)
		}
		for _, command := range [][]string{{"FIRN.LIST"}, {"COMMAND"}, {"COMMAND", "DOCS"}, {"COMMAND", "LIST"}, {"INFO"}, {"INFO", "server", "nothing"}} {
			if got := ask(t, c, r, command...); got.kind == '-' {
				t.Errorf("%q: %v", command, got)
			}
		}
		if name := ask(t, c, r, "CLIENT", "GETNAME"); name.text != "me" {
			t.Error(name)
		}
	}
	if info := ask(t, c, r, "INFO", "Clients"); info.text != "# Clients\r\nconnected_clients:1\r\n" {
		t.Error(info)
	}
}

// A client that ends its side gets all answers, and then the end: on connections with few commands, and with many.
func TestHalfClosed(t *testing.T) {
	for _, network := range networks {
		for _, before := range []int{0, 3, 2 * patient} {
			t.Run(fmt.Sprintf("%s/%d", network.name, before), func(t *testing.T) {
				t.Parallel()
				dial := network.open(t, New(Config{Set: newSet(t)}))
				c := dial()
				r := bufio.NewReader(c)
				for range before {
					ask(t, c, r, "PING")
				}
				const n = 1000
				go func() {
					io.WriteString(c, strings.Repeat(frameOf("INCR", "nanoflake"), n)+"*1\r\n$4\r\nPI")
					c.(interface{ CloseWrite() error }).CloseWrite()
				}()
				for range n {
					if v, err := readValue(r); err != nil || v.kind != ':' {
						t.Fatal(v, err)
					}
				}
				if b, err := r.ReadByte(); err != io.EOF {
					t.Errorf("%q, %v behind the answers", b, err)
				}
			})
		}
	}
}

// The end of a client's side is seen even if the end comes together with the last commands.
func TestEndWithCommands(t *testing.T) {
	for _, network := range networks {
		t.Run(network.name, func(t *testing.T) {
			dial := network.open(t, New(Config{Set: newSet(t)}))
			var clients sync.WaitGroup
			for range 50 {
				c := dial()
				clients.Go(func() {
					r := bufio.NewReader(c)
					for range 2 * patient {
						io.WriteString(c, frameOf("PING"))
						if v, err := readValue(r); err != nil || v.text != "PONG" {
							t.Error(v, err)
						}
					}
					io.WriteString(c, frameOf("ECHO", "last"))
					c.(interface{ CloseWrite() error }).CloseWrite()
					if got, err := io.ReadAll(r); string(got) != "$4\r\nlast\r\n" || err != nil {
						t.Errorf("%q, %v", got, err)
					}
				})
			}
			clients.Wait()
		})
	}
}

// A pipeline of the largest answers comes whole to a client that reads late, and the server holds one answer at a time.
func TestLargeAnswers(t *testing.T) {
	for _, network := range networks {
		t.Run(network.name, func(t *testing.T) {
			s := New(Config{Set: newSet(t)})
			dial := network.open(t, s)
			c := dial()
			const n = 20
			go io.WriteString(c, strings.Repeat(frameOf("FIRN.NEXT", "scru160", "65536"), n)+frameOf("FIRN.NEXT", "nanoflake", "65536")+frameOf("FIRN.NEXT", "snowflakesi", "65536"))
			wait.Until(t, "an answer is under way", func() bool { return len(s.large) == 1 })
			r := bufio.NewReader(c)
			for range n {
				if v, err := readValue(r); err != nil || len(v.parts) != 65536 {
					t.Fatalf("%d texts, %v", len(v.parts), err)
				}
				if len(s.large) > 1 {
					t.Error("the server holds several answers")
				}
			}
			for range 2 {
				if v, err := readValue(r); err != nil || len(v.parts) != 65536 {
					t.Fatalf("%d texts, %v", len(v.parts), err)
				}
			}
			wait.Until(t, "no answer is under way", func() bool { return len(s.large) == 0 })
		})
	}
}

// As many large answers as the server holds are under way. The next waits, and gets a reason; fewer IDs come at once, and
// so does the large answer when another has ended.
func TestBusy(t *testing.T) {
	s := New(Config{Set: newSet(t)})
	c := networks[0].open(t, s)()
	r := bufio.NewReader(c)
	for range cap(s.large) {
		s.large <- struct{}{}
	}
	const want = "TRYAGAIN busy: clients are slow to read 32 large answers: ask again, or for fewer IDs at a time"
	if v := ask(t, c, r, "FIRN.NEXT", "nanoflake", "65536"); v.kind != '-' || v.text != want {
		t.Errorf("%c %.200s", v.kind, v.text)
	}
	if v := ask(t, c, r, "FIRN.NEXT", "nanoflake", "1000"); len(v.parts) != 1000 {
		t.Errorf("fewer IDs: %c %.200s", v.kind, v.text)
	}
	<-s.large
	if v := ask(t, c, r, "FIRN.NEXT", "nanoflake", "65536"); len(v.parts) != 65536 {
		t.Errorf("the same again: %c %.200s", v.kind, v.text)
	}
	wait.Until(t, "the large answer has ended", func() bool { return len(s.large) == cap(s.large)-1 })
}

// Clients that never read are cut off, and their memory comes free. Other clients get answers meanwhile.
func TestNeverRead(t *testing.T) {
	for _, network := range networks {
		t.Run(network.name, func(t *testing.T) {
			s := New(Config{Set: newSet(t)})
			s.slowest = 200 * time.Millisecond
			dial := network.open(t, s)
			for i := range 20 {
				c := dial()
				command := frameOf("FIRN.NEXT", "scru160", "65536")
				if i%2 == 0 {
					command = strings.Repeat(frameOf("INCR", "nanoflake"), 100)
				}
				go func() {
					for {
						if _, err := io.WriteString(c, command); err != nil {
							return
						}
					}
				}()
			}
			c := dial()
			r := bufio.NewReader(c)
			wait.Until(t, "the server has cut off all clients that do not read", func() bool {
				if v := ask(t, c, r, "INCR", "nanoflake"); v.kind != ':' {
					t.Error(v)
				}
				return s.open() == 1
			})
			if n := len(s.large); n != 0 {
				t.Errorf("%d large answers are left", n)
			}
		})
	}
}

// A command that does not end ends its connection, and a connection without a command stays.
func TestPartly(t *testing.T) {
	for _, network := range networks {
		t.Run(network.name, func(t *testing.T) {
			s := New(Config{Set: newSet(t)})
			s.partly = 100 * time.Millisecond
			dial := network.open(t, s)
			idle := dial()
			idleReader := bufio.NewReader(idle)
			ask(t, idle, idleReader, "PING")
			for _, start := range []string{"*", "*1\r\n$4\r\nPIN", frameOf("PING") + "*1\r\n"} {
				c := dial()
				io.WriteString(c, start)
				got, err := io.ReadAll(c)
				if want := "-ERR request: Protocol error: the end of the command has not come in 100ms\r\n"; !strings.HasSuffix(string(got), want) || err != nil {
					t.Errorf("%q: %q, %v", start, got, err)
				}
			}
			// A command that trickles is a command that does not end.
			c := dial()
			go func() {
				for rest := frameOf("ECHO", strings.Repeat("x", 512)); rest != ""; rest = rest[1:] {
					if _, err := io.WriteString(c, rest[:1]); err != nil {
						return
					}
					time.Sleep(5 * time.Millisecond)
				}
			}()
			if got, _ := io.ReadAll(c); !strings.Contains(string(got), "the end of the command has not come") {
				t.Errorf("a command that trickles: %q", got)
			}
			ask(t, idle, idleReader, "PING")
		})
	}
}

// Drain ends connections under load without a reset: each client reads whole answers, and then the end.
func TestDrain(t *testing.T) {
	for _, network := range networks {
		t.Run(network.name, func(t *testing.T) {
			for range 5 {
				s := New(Config{Set: newSet(t)})
				dial := network.open(t, s)
				var clients, ready sync.WaitGroup
				for i := range 30 {
					c := dial()
					ready.Add(1)
					clients.Go(func() {
						defer c.Close()
						r := bufio.NewReader(c)
						command := strings.Repeat(frameOf("INCR", "nanoflake"), i/10*20+1)
						for round := 0; ; round++ {
							if round == 2 {
								ready.Done()
								if i%10 == 0 { // idle
									if b, err := r.ReadByte(); err != io.EOF {
										t.Errorf("%q, %v", b, err)
									}
									return
								}
							}
							if _, err := io.WriteString(c, command); err != nil {
								t.Errorf("writing: %v", err)
							}
							for done := range strings.Count(command, "INCR") {
								v, err := readValue(r)
								if err == io.EOF && round > 1 {
									return
								}
								// A busy machine may be so slow that the wait for the next tick ends with the drain.
								if err != nil || v.kind != ':' && !strings.HasPrefix(v.text, "TRYAGAIN draining: ") {
									t.Errorf("round %d, %d answers: %v %v, reset: %v", round, done, v, err, errors.Is(err, syscall.ECONNRESET))
									return
								}
							}
						}
					})
				}
				ready.Wait()
				drain(t, s)
				clients.Wait()
			}
		})
	}
}

// Drain does not wait for clients that never end.
func TestDrainDeadline(t *testing.T) {
	for _, network := range networks {
		t.Run(network.name, func(t *testing.T) {
			s := New(Config{Set: newSet(t)})
			dial := network.open(t, s)
			c := dial()
			ask(t, c, bufio.NewReader(c), "PING")
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if err := s.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			wait.Until(t, "the connection has ended", func() bool { return s.open() == 0 })
		})
	}
}

// Goroutines and connections go back to where they began, and idle connections have no buffers.
func TestIdle(t *testing.T) {
	s := New(Config{Set: newSet(t)})
	dial := networks[0].open(t, s)
	first := dial()
	r := bufio.NewReader(first)
	ask(t, first, r, "INCR", "nanoflake")
	began := runtime.NumGoroutine()
	const n = 500
	var all []net.Conn
	for range n {
		c := dial()
		ask(t, c, bufio.NewReader(c), "INCR", "nanoflake")
		all = append(all, c)
	}
	if s.open() != n+1 {
		t.Errorf("%d connections", s.open())
	}
	for i, c := range all {
		if i%2 == 0 {
			io.WriteString(c, "*1\r\n$4")
		}
		c.Close()
	}
	wait.Until(t, "the connections have ended", func() bool { return s.open() == 1 })
	wait.Until(t, "the goroutines have ended", func() bool { return runtime.NumGoroutine() <= began })
	ask(t, first, r, "INCR", "nanoflake")
}

// newStarting returns a generator whose store never opens.
func newStarting(t testing.TB, longest time.Duration) *supply.Set {
	g := supplytest.Down("order", "")
	g.Keys = []string{"*"}
	g.Open = func(ctx context.Context) (driver.Store, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return supplytest.New(t, supply.Config{Wait: longest, Generators: []supply.Generator{g}})
}

// Commands that come together wait once for IDs. If each waited, the answers would take longer than the client waits.
func TestWaitOnce(t *testing.T) {
	const each = time.Second
	n := 2 * int(wait.Patience/each)
	dial := networks[0].open(t, New(Config{Set: newStarting(t, each)}))
	c := dial()
	var pipeline strings.Builder
	for i := range n / 3 {
		pipeline.WriteString(frameOf("INCR", strconv.Itoa(i)) + frameOf("FIRN.NEXT", "order", "2") + frameOf("FIRN.RUN", "order", "2"))
	}
	for i, v := range send(t, c, bufio.NewReader(c), pipeline.String(), n/3*3) {
		if v.kind != '-' || !strings.HasPrefix(v.text, "TRYAGAIN starting: ") {
			t.Fatalf("answer %d: %v", i, v)
		}
	}
}

// A command that waits for IDs when the server drains is answered.
func TestDrainWaiting(t *testing.T) {
	for _, network := range networks {
		t.Run(network.name, func(t *testing.T) {
			s := New(Config{Set: newStarting(t, 2*wait.Patience)})
			dial := network.open(t, s)
			c := dial()
			r := bufio.NewReader(c)
			ask(t, c, r, "PING")
			io.WriteString(c, frameOf("INCR", "order"))
			drained := make(chan struct{})
			go func() {
				defer close(drained)
				drain(t, s)
			}()
			// The server may drain before the command comes, and then does not read the command.
			if v, err := readValue(r); err != io.EOF && (err != nil || !strings.HasPrefix(v.text, "TRYAGAIN draining: ")) {
				t.Error(v, err)
			}
			c.Close()
			<-drained
		})
	}
}

// A panic ends its connection alone.
func TestPanic(t *testing.T) {
	for _, network := range networks {
		t.Run(network.name, func(t *testing.T) {
			s := New(Config{}) // without a Set, INCR panics
			dial := network.open(t, s)
			c, other := dial(), dial()
			r := bufio.NewReader(other)
			ask(t, other, r, "PING")
			io.WriteString(c, frameOf("PING")+frameOf("INCR", "order"))
			if got, err := io.ReadAll(c); len(got) > 0 {
				t.Errorf("%q, %v", got, err)
			}
			wait.Until(t, "the connection has ended", func() bool { return s.open() == 1 })
			ask(t, other, r, "PING")
		})
	}
}
