package resp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/reason"
)

// A command is a command that clients may send.
type command struct {
	name      string // in upper case
	least     int    // words, with the name
	most      int    // 0 means no limit
	free      bool   // needs no token
	key       bool   // the word behind the name is a key
	changes   bool   // makes IDs
	group     string // as Redis groups its commands
	summary   string
	arguments []argument
	run       func(c *conn, words [][]byte) error // appends the answer to c.work.out, or returns an error
}

// An argument is a word of a command, for COMMAND DOCS.
type argument struct {
	name     string
	kind     string // the type, as Redis names types
	optional bool
}

// list has all commands. init fills it, because COMMAND reads it.
var list []*command

var commands = map[string]*command{}

func init() {
	count := argument{name: "count", kind: "integer", optional: true}
	name := argument{name: "name", kind: "key"}
	list = []*command{
		{name: "AUTH", least: 2, most: 3, free: true, group: "connection", summary: "Sends the token.", run: runAuth,
			arguments: []argument{{"default", "string", true}, {"token", "string", false}}},
		{name: "CLIENT", least: 2, group: "connection", summary: "Names the connection: SETINFO, SETNAME, GETNAME, ID, NO-EVICT, NO-TOUCH.", run: runClient,
			arguments: []argument{{"subcommand", "string", false}, {"value", "string", true}}},
		{name: "COMMAND", least: 1, group: "server", summary: "Lists the commands: COUNT, DOCS, INFO, LIST.", run: runCommand,
			arguments: []argument{{"subcommand", "string", true}, {"command-name", "string", true}}},
		{name: "ECHO", least: 2, most: 2, group: "connection", summary: "Returns the text.", run: runEcho,
			arguments: []argument{{"text", "string", false}}},
		{name: "FIRN.INSPECT", least: 2, most: 3, group: "firn", summary: "Takes an ID apart, as JSON. The name of a generator says how to read the ID.", run: runInspect,
			arguments: []argument{{"id", "string", false}, {"name", "string", true}}},
		{name: "FIRN.LIST", least: 1, most: 1, group: "firn", summary: "Lists the generators.", run: runList},
		{name: "FIRN.NEXT", least: 2, most: 3, key: true, changes: true, group: "firn", summary: "Makes an ID as text. With a count, an array of IDs.", run: runNext,
			arguments: []argument{name, count}},
		{name: "FIRN.RUN", least: 3, most: 3, key: true, changes: true, group: "firn", summary: "Makes IDs that are consecutive integers: the first, and how many, up to count.", run: runRun,
			arguments: []argument{name, {"count", "integer", false}}},
		{name: "HELLO", least: 1, most: 7, free: true, group: "connection", summary: "Chooses the protocol, and may send the token.", run: runHello,
			arguments: []argument{{"protover", "integer", true}, {"options", "string", true}}},
		{name: "INCR", least: 2, most: 2, key: true, changes: true, group: "string", summary: "Makes an ID of 64 bits, as an integer.", run: runIncr,
			arguments: []argument{{"key", "key", false}}},
		{name: "INCRBY", least: 3, most: 3, key: true, changes: true, group: "string", summary: "Makes an ID, as INCR does. The increment is 1.", run: runIncrBy,
			arguments: []argument{{"key", "key", false}, {"increment", "integer", false}}},
		{name: "INFO", least: 1, group: "server", summary: "Tells about the server, its clients and its generators.", run: runInfo,
			arguments: []argument{{"section", "string", true}}},
		{name: "PING", least: 1, most: 2, group: "connection", summary: "Returns PONG, or the text.", run: runPing,
			arguments: []argument{{"text", "string", true}}},
		{name: "QUIT", least: 1, free: true, group: "connection", summary: "Ends the connection.", run: runQuit},
		{name: "RESET", least: 1, most: 1, free: true, group: "connection", summary: "Forgets the token, the protocol and the name.", run: runReset},
		{name: "SELECT", least: 2, most: 2, group: "connection", summary: "Selects the database 0, the only one.", run: runSelect,
			arguments: []argument{{"index", "integer", false}}},
	}
	for _, cmd := range list {
		commands[cmd.name] = cmd
	}
}

// transactions is the remedy for the commands of transactions. A pipeline of redis-py is a transaction by default.
const transactions = "this server has no transactions: send the commands in a pipeline without one, as by pipeline(transaction=False) in redis-py"

// refused has the remedy for commands of Redis that applications use beside INCR, and that the server does not have.
var refused = map[string]string{
	"GET":         "the server keeps no values: INCR and FIRN.NEXT make a new ID each time",
	"SET":         "the server keeps no values, and an ID needs no first value: use INCR or FIRN.NEXT",
	"DECR":        "IDs only grow: use INCR",
	"DECRBY":      "IDs only grow: use INCR",
	"INCRBYFLOAT": "IDs are no fractions: use INCR",
	"MULTI":       transactions,
	"EXEC":        transactions,
	"DISCARD":     transactions,
	"WATCH":       transactions,
	"UNWATCH":     transactions,
}

// lookup returns the command of a name in any case.
func lookup(name []byte) *command {
	var upper [len("FIRN.INSPECT")]byte
	if len(name) > len(upper) {
		return nil
	}
	for i, b := range name {
		if 'a' <= b && b <= 'z' {
			b -= 'a' - 'A'
		}
		upper[i] = b
	}
	return commands[string(upper[:len(name)])]
}

// is reports whether a word is a keyword, in any case. The keyword is in upper case.
func is(word []byte, keyword string) bool {
	return len(word) == len(keyword) && strings.EqualFold(string(word), keyword)
}

// command runs the command that the frame has. The command is n bytes of the input.
func (c *conn) command(n int) {
	w := c.work
	text := w.in[w.from : w.from+n]
	w.from += n
	words := w.frame.words
	if name := words[0]; len(words) == 2 && len(name) == 4 && name[0]|0x20 == 'i' && name[1]|0x20 == 'n' && name[2]|0x20 == 'c' && name[3]|0x20 == 'r' && !c.locked() {
		c.increment(words[1], text)
		return
	}
	before := len(w.out)
	if err := c.execute(words); err != nil {
		w.out = w.out[:before]
		c.refuse(c.reason(err))
		return
	}
	w.answers++
}

// locked reports whether the connection needs a token first.
func (c *conn) locked() bool { return c.bearer == nil && c.server.Access.Needed() }

// execute runs a command. With an error, the answer is the error.
func (c *conn) execute(words [][]byte) error {
	cmd := lookup(words[0])
	switch {
	case c.locked() && (cmd == nil || !cmd.free):
		return reason.Token.New("Authentication required: send AUTH TOKEN, or HELLO 3 AUTH default TOKEN")
	case cmd == nil:
		return unknown(words[0])
	case len(words) < cmd.least || cmd.most > 0 && len(words) > cmd.most:
		return reason.Request.New("wrong number of arguments for %s: %s", cmd.name, cmd.usage())
	}
	return cmd.run(c, words)
}

func unknown(name []byte) error {
	if remedy := refused[strings.ToUpper(string(name))]; remedy != "" {
		return reason.NoPath.New("unknown command %s: %s", bytes.ToUpper(name), remedy)
	}
	const most = 40 // bytes of a name in an error
	if len(name) > most {
		name = name[:most]
	}
	var names []string
	for _, cmd := range list {
		names = append(names, cmd.name)
	}
	return reason.NoPath.New("unknown command %q: the commands are %s", name, strings.Join(names, ", "))
}

// usage returns the command with its arguments.
func (cmd *command) usage() string {
	words := []string{cmd.name}
	for _, a := range cmd.arguments {
		if a.optional {
			words = append(words, "["+a.name+"]")
		} else {
			words = append(words, a.name)
		}
	}
	return strings.Join(words, " ")
}

// reason returns the reason of a command's error.
func (c *conn) reason(err error) *reason.Error {
	if _, ok := errors.AsType[*reason.Error](err); !ok && c.server.waiting.Err() != nil && errors.Is(err, c.server.waiting.Err()) {
		return reason.Draining.New("the server is stopping: connect again")
	}
	return reason.Of(err)
}

func (c *conn) ok() error {
	c.work.out = append(c.work.out, "+OK\r\n"...)
	return nil
}

func runPing(c *conn, words [][]byte) error {
	if len(words) == 1 {
		c.work.out = appendSimple(c.work.out, "PONG")
		return nil
	}
	return runEcho(c, words)
}

func runEcho(c *conn, words [][]byte) error {
	c.work.out = appendBulk(c.work.out, words[1])
	return nil
}

func runQuit(c *conn, _ [][]byte) error {
	c.end = said
	return c.ok()
}

func runReset(c *conn, _ [][]byte) error {
	c.bearer, c.protocol, c.name = nil, 2, ""
	c.choose()
	c.work.out = appendSimple(c.work.out, "RESET")
	return nil
}

func runSelect(c *conn, words [][]byte) error {
	switch _, err := strconv.Atoi(string(words[1])); {
	case err != nil:
		return reason.Request.New("the index of a database is a number: the server has database 0 alone")
	case string(words[1]) != "0":
		return reason.Request.New("DB index is out of range: the server has database 0 alone")
	}
	return c.ok()
}

func runAuth(c *conn, words [][]byte) error {
	user := []byte("default")
	if len(words) == 3 {
		user = words[1]
	}
	b, err := c.enter(user, words[len(words)-1])
	if err != nil {
		return err
	}
	c.bearer = b
	return c.ok()
}

// enter returns the bearer of a token.
func (c *conn) enter(user, token []byte) (*access.Bearer, error) {
	if string(user) != "default" {
		return nil, reason.WrongToken.New("the only user is default: send AUTH TOKEN")
	}
	b, err := c.server.Access.Enter(string(token))
	if err == nil {
		c.known()
	}
	return b, err
}

func runHello(c *conn, words [][]byte) error {
	protocol, bearer, name, named := c.protocol, c.bearer, "", false
	if len(words) > 1 {
		switch string(words[1]) {
		case "2":
			protocol = 2
		case "3":
			protocol = 3
		default:
			if _, err := strconv.Atoi(string(words[1])); err != nil {
				return reason.Request.New("Protocol version is not an integer or out of range: use HELLO 2 or HELLO 3")
			}
			c.server.Calls.Refused(reason.Request)
			// Clients know this word.
			c.work.out = append(c.work.out, "-NOPROTO unsupported protocol version: use HELLO 2 or HELLO 3\r\n"...)
			return nil
		}
	}
	for options := words[min(2, len(words)):]; len(options) > 0; {
		switch {
		case is(options[0], "AUTH") && len(options) >= 3:
			var err error
			if bearer, err = c.enter(options[1], options[2]); err != nil {
				return err
			}
			options = options[3:]
		case is(options[0], "SETNAME") && len(options) >= 2:
			if !isName(options[1]) {
				return errName
			}
			name, named = string(options[1]), true
			options = options[2:]
		default:
			return reason.Request.New("Syntax error in HELLO option %q: the options are AUTH default TOKEN and SETNAME name", options[0])
		}
	}
	if bearer == nil && c.server.Access.Needed() {
		return reason.Token.New("HELLO must be called with the client already authenticated: send HELLO 3 AUTH default TOKEN, or AUTH TOKEN before")
	}
	c.protocol, c.bearer = protocol, bearer
	if named {
		c.name = name
	}
	c.choose()
	out := c.appendMap(c.work.out, 7)
	out = appendBulk(appendBulk(out, "server"), "firn")
	out = appendBulk(appendBulk(out, "version"), c.server.Version)
	out = appendInt(appendBulk(out, "proto"), c.protocol)
	out = appendInt(appendBulk(out, "id"), int(c.number))
	out = appendBulk(appendBulk(out, "mode"), "standalone")
	out = appendBulk(appendBulk(out, "role"), "master")
	c.work.out = appendHead(appendBulk(out, "modules"), '*', 0)
	return nil
}

// choose decides whether IDs are big numbers. In JavaScript, clients read an integer as a number, which rounds above
// 2^53, and a big number as a BigInt or a string. Clients of other languages read integers of 64 bits.
func (c *conn) choose() {
	c.big = c.protocol == 3 && (isJavaScript(c.library) || isJavaScript(c.name))
}

func isJavaScript(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "node-redis") || strings.HasPrefix(name, "ioredis")
}

var errName = reason.Request.New("Client names cannot contain spaces, newlines or special characters")

// isName reports whether Redis takes a name of a client.
func isName(name []byte) bool {
	return !slices.ContainsFunc(name, func(b byte) bool { return b < '!' || b > '~' })
}

func runClient(c *conn, words [][]byte) error {
	w, sub, n := c.work, words[1], len(words)
	switch {
	case is(sub, "ID") && n == 2:
		w.out = appendInt(w.out, int(c.number))
		return nil
	case is(sub, "GETNAME") && n == 2:
		if c.name == "" {
			w.out = c.appendNull(w.out)
		} else {
			w.out = appendBulk(w.out, c.name)
		}
		return nil
	case is(sub, "SETNAME") && n == 3:
		if !isName(words[2]) {
			return errName
		}
		c.name = string(words[2])
		c.choose()
		return c.ok()
	case is(sub, "SETINFO") && n == 4 && (is(words[2], "LIB-NAME") || is(words[2], "LIB-VER")):
		if !isName(words[3]) {
			return errName
		}
		if is(words[2], "LIB-NAME") {
			c.library = string(words[3])
			c.choose()
		}
		return c.ok()
	case (is(sub, "NO-EVICT") || is(sub, "NO-TOUCH")) && n == 3 && (is(words[2], "ON") || is(words[2], "OFF")):
		return c.ok()
	}
	return reason.NoPath.New("CLIENT has SETINFO LIB-NAME|LIB-VER value, SETNAME name, GETNAME, ID, NO-EVICT ON|OFF and NO-TOUCH ON|OFF")
}

func runInspect(c *conn, words [][]byte) error {
	if err := c.bearer.MayRead(); err != nil {
		return err
	}
	text := string(words[1])
	if len(words) == 3 {
		s, err := c.server.Set.ByKey(words[2])
		if err != nil {
			return err
		}
		r, err := s.Read(text)
		if err != nil {
			return err
		}
		return c.bulkJSON(r.Info)
	}
	all, err := c.server.Set.Read(text, time.Now())
	switch {
	case err != nil:
		return err
	case len(all) == 1:
		return c.bulkJSON(all[0].Info)
	}
	answer := struct {
		Input      string            `json:"input"`
		Candidates []json.RawMessage `json:"candidates"`
	}{Input: text}
	for _, r := range all {
		object, err := r.MarshalJSON()
		if err != nil {
			return err
		}
		answer.Candidates = append(answer.Candidates, object)
	}
	return c.bulkJSON(answer)
}

// bulkJSON answers with a value in JSON.
func (c *conn) bulkJSON(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.work.out = appendBulk(c.work.out, text)
	return nil
}

func runList(c *conn, _ [][]byte) error {
	if err := c.bearer.MayRead(); err != nil {
		return err
	}
	all := c.server.Set.All()
	out := appendHead(c.work.out, '*', len(all))
	for _, s := range all {
		out = c.appendMap(out, 5)
		out = appendBulk(appendBulk(out, "name"), s.Name)
		out = appendBulk(appendBulk(out, "format"), s.Format.Name())
		out = appendInt(appendBulk(out, "bytes"), s.Size)
		out = appendInt(appendBulk(out, "runs"), number(s.Runs()))
		out = appendHead(appendBulk(out, "keys"), '*', len(s.Keys))
		for _, k := range s.Keys {
			out = appendBulk(out, k)
		}
	}
	c.work.out = out
	return nil
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

func runInfo(c *conn, words [][]byte) error {
	wants := func(section string) bool {
		return len(words) == 1 || slices.ContainsFunc(words[1:], func(w []byte) bool {
			return is(w, section) || is(w, "DEFAULT") || is(w, "ALL") || is(w, "EVERYTHING")
		})
	}
	var b bytes.Buffer
	part := func(title string) {
		if b.Len() > 0 {
			b.WriteString("\r\n")
		}
		fmt.Fprintf(&b, "# %s\r\n", title)
	}
	if wants("SERVER") {
		part("Server")
		fmt.Fprintf(&b, "firn_version:%s\r\nredis_mode:standalone\r\nuptime_in_seconds:%d\r\n", c.server.Version, int(time.Since(c.server.began).Seconds()))
	}
	if wants("CLIENTS") {
		part("Clients")
		fmt.Fprintf(&b, "connected_clients:%d\r\n", c.server.open())
	}
	if wants("PERSISTENCE") { // ioredis asks whether the server is ready
		part("Persistence")
		b.WriteString("loading:0\r\n")
	}
	if err := c.bearer.MayRead(); err != nil {
		if e := reason.Of(err); e.Of != reason.Permission {
			return err
		}
	} else if wants("GENERATORS") {
		part("Generators")
		for _, s := range c.server.Set.All() {
			var ids uint64
			workers := s.Workers()
			for _, w := range workers {
				ids += uint64(w.Usage.IDs)
			}
			fmt.Fprintf(&b, "%s:format=%s,bytes=%d,workers=%d,serving=%d,ids=%d\r\n", s.Name, s.Format.Name(), s.Size, len(workers), number(s.Serving() == nil), ids)
		}
	}
	c.work.out = appendBulk(c.work.out, b.Bytes())
	return nil
}

func runCommand(c *conn, words [][]byte) error {
	w := c.work
	if len(words) == 1 {
		w.out = appendHead(w.out, '*', len(list))
		for _, cmd := range list {
			w.out = c.appendSummary(w.out, cmd)
		}
		return nil
	}
	chosen := list
	if len(words) > 2 {
		chosen = nil
		for _, name := range words[2:] {
			chosen = append(chosen, lookup(name)) // nil for an unknown command
		}
	}
	switch {
	case is(words[1], "COUNT") && len(words) == 2:
		w.out = appendInt(w.out, len(list))
	case is(words[1], "LIST") && len(words) == 2:
		w.out = appendHead(w.out, '*', len(list))
		for _, cmd := range list {
			w.out = appendBulk(w.out, strings.ToLower(cmd.name))
		}
	case is(words[1], "INFO"):
		w.out = appendHead(w.out, '*', len(chosen))
		for _, cmd := range chosen {
			w.out = c.appendSummary(w.out, cmd)
		}
	case is(words[1], "DOCS"):
		chosen = slices.DeleteFunc(slices.Clone(chosen), func(cmd *command) bool { return cmd == nil })
		w.out = c.appendMap(w.out, len(chosen))
		for _, cmd := range chosen {
			w.out = c.appendDocs(w.out, cmd)
		}
	default:
		return reason.NoPath.New("COMMAND has COUNT, DOCS [name]..., INFO [name]... and LIST")
	}
	return nil
}

// appendSummary appends the entry of a command in COMMAND INFO, as Redis 6 has it.
func (c *conn) appendSummary(dst []byte, cmd *command) []byte {
	if cmd == nil {
		if c.protocol == 3 {
			return append(dst, "_\r\n"...)
		}
		return append(dst, "*-1\r\n"...)
	}
	dst = appendBulk(appendHead(dst, '*', 6), strings.ToLower(cmd.name))
	if cmd.least == cmd.most {
		dst = appendInt(dst, cmd.least)
	} else {
		dst = appendInt(dst, -cmd.least)
	}
	flags := []string{"fast"}
	if cmd.changes {
		flags = append(flags, "write")
	}
	if cmd.free {
		flags = append(flags, "no_auth")
	}
	dst = appendHead(dst, '*', len(flags))
	for _, f := range flags {
		dst = appendSimple(dst, f)
	}
	for range 3 { // the first key, the last key, the step between keys
		dst = appendInt(dst, number(cmd.key))
	}
	return dst
}

// appendDocs appends the name of a command and its entry in COMMAND DOCS.
func (c *conn) appendDocs(dst []byte, cmd *command) []byte {
	dst = c.appendMap(appendBulk(dst, strings.ToLower(cmd.name)), 4)
	dst = appendBulk(appendBulk(dst, "summary"), cmd.summary)
	dst = appendBulk(appendBulk(dst, "since"), "0.1.0")
	dst = appendBulk(appendBulk(dst, "group"), cmd.group)
	dst = appendHead(appendBulk(dst, "arguments"), '*', len(cmd.arguments))
	for _, a := range cmd.arguments {
		fields := 3 + number(a.optional) + number(a.kind == "key")
		dst = c.appendMap(dst, fields)
		dst = appendBulk(appendBulk(dst, "name"), a.name)
		dst = appendBulk(appendBulk(dst, "type"), a.kind)
		dst = appendBulk(appendBulk(dst, "display_text"), a.name)
		if a.kind == "key" {
			dst = appendInt(appendBulk(dst, "key_spec_index"), 0)
		}
		if a.optional {
			dst = appendSimple(appendHead(appendBulk(dst, "flags"), '*', 1), "optional")
		}
	}
	return dst
}
