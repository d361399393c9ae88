package redislease

import (
	"context"
	"crypto/rand"
	"crypto/sha1"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/lease/driver"
)

// schemaVersion is the version of the form of the keys.
const schemaVersion = 1

// Three fields of the hash begin with a '.' and are not entries: the version of the form, the name
// of the hash, and the number of changes. All answers of scripts begin with a word, the name, and
// the number of changes.
//
// PERSIST removes a time to live set by another program. It also makes each script a writing
// script: a replica refuses writing scripts, as does a primary with a failing disk or without
// enough replicas (min-replicas-to-write). PERSIST comes last, after the commands that take memory:
// Redis does not apply the memory limit to a script after a write.
const prelude = `
local entries, index = KEYS[1], KEYS[2]
local about = redis.call('HMGET', entries, '.schema', '.store', '.count')
local fields, members = redis.call('HLEN', entries), redis.call('ZCARD', index)
local function answer(word, ...)
	redis.call('PERSIST', entries)
	redis.call('PERSIST', index)
	return {word, about[2] or '', about[3] or '', ...}
end
if fields == 0 and members == 0 then return answer('unprepared') end
if fields == 0 then return answer('damaged') end
if not about[1] then return answer('foreign') end
if about[1] ~= '1' then return answer('version', about[1]) end
if not about[2] or not about[3] or fields - 3 ~= members then return answer('damaged') end
`

var (
	prepareScript = redis.NewScript(`
if redis.call('EXISTS', KEYS[1], KEYS[2]) == 0 then
	redis.call('HSET', KEYS[1], '.schema', '1', '.store', ARGV[1], '.count', '0')
end
` + prelude + `return answer('ok')`)

	getScript = redis.NewScript(prelude + `
return answer('ok', redis.call('HGET', entries, ARGV[1]))`)

	listScript = redis.NewScript(prelude + `
local keys = redis.call('ZRANGEBYLEX', index, ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])
if #keys == 0 then return answer('ok', keys, keys) end
return answer('ok', keys, redis.call('HMGET', entries, unpack(keys)))`)

	getAllScript = redis.NewScript(prelude + `
return answer('ok', redis.call('HMGET', entries, unpack(ARGV)))`)

	// First the count, then the index, then the entry. If the user lacks a right, the script fails
	// before it has changed anything except the count, which may skip numbers.
	putScript = redis.NewScript(prelude + `
local key, version, store, value = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local old = redis.call('HGET', entries, key)
if old then
	local same = string.sub(old, 1, #version + 1) == version .. ' '
	if string.sub(version, 1, 1) == 'x' then same = version == 'x' .. redis.sha1hex(old) end
	if store ~= about[2] or not same then return answer('conflict') end
elseif version ~= '' then
	return answer('conflict')
end
about[3] = string.format('%.0f', tonumber(about[3]) + 1)
redis.call('HSET', entries, '.count', about[3])
if not old then redis.call('ZADD', index, 0, key) end
redis.call('HSET', entries, key, about[3] .. ' ' .. value)
return answer('ok')`)

	// The arguments are keys, each followed by its value. The answer has the version of each entry, or "".
	createAllScript = redis.NewScript(prelude + `
local versions, last = {}, tonumber(about[3])
for i = 1, #ARGV, 2 do
	local version = ''
	if not redis.call('HGET', entries, ARGV[i]) then
		last = last + 1
		version = string.format('%.0f', last)
	end
	versions[#versions + 1] = version
end
about[3] = string.format('%.0f', last)
redis.call('HSET', entries, '.count', about[3])
for i, version in ipairs(versions) do
	if version ~= '' then
		redis.call('ZADD', index, 0, ARGV[2 * i - 1])
		redis.call('HSET', entries, ARGV[2 * i - 1], version .. ' ' .. ARGV[2 * i])
	end
end
return answer('ok', versions)`)
)

// errUnprepared reports that the store has no keys in Redis.
var errUnprepared = errors.New("the prefix has no leases")

// do runs a script. It returns the rest of the answer after the word, the name of the hash and the
// count; and the name, and the count.
func (s *Store) do(ctx context.Context, script *redis.Script, args ...any) (rest []any, store string, count uint64, err error) {
	before := s.seen.Seen()
	reply, err := await(ctx, func() (any, error) { return s.run(ctx, script, args) })
	if err != nil {
		return nil, "", 0, err
	}
	list, _ := reply.([]any)
	if len(list) < 3 {
		return nil, "", 0, fmt.Errorf("the server's answer is %.100q", fmt.Sprint(reply))
	}
	word, store, counted := text(list[0]), text(list[1]), text(list[2])
	count, bad := strconv.ParseUint(counted, 10, 64)
	switch {
	case word == "version":
		err = fmt.Errorf("%w: the keys %s are of version %.20s, and %d is known here", driver.ErrVersion, s.keys, text(list[3]), schemaVersion)
	case word == "foreign":
		err = &driver.Error{Err: fmt.Errorf("%w: %s is not of leases", driver.ErrRefused, s.keys[0]), Remedy: driver.RemedyMove}
	case word == "unprepared" && s.name.Load() == nil:
		err = &driver.Error{Err: fmt.Errorf("%w: %w: there is no %s", driver.ErrRefused, errUnprepared, s.keys[0]),
			Remedy: driver.RemedyCreate}
	case word == "damaged" || word != "unprepared" && (bad != nil || store == ""):
		// Every call fails, also those of a recovery: it takes another prefix, or both keys from a backup.
		err = &driver.Error{Err: fmt.Errorf("%w: %s and %s do not go together: one of them, or something in them, was deleted or evicted", driver.ErrDamaged, s.keys[0], s.keys[1]),
			Remedy: driver.RemedyMove}
	default:
		if err = s.backwards(store, count, before); err == nil && word == "conflict" {
			err = driver.ErrConflict
		}
	}
	return list[3:], store, count, err
}

func text(v any) string { t, _ := v.(string); return t }

// run lets the server run a script, and wait for the replicas and the disk if the options say so.
func (s *Store) run(ctx context.Context, script *redis.Script, args []any) (any, error) {
	if s.options.WaitReplicas == 0 && !s.options.WaitAOF {
		return script.Run(ctx, s.client, s.keys, args...).Result()
	}
	left := s.options.WaitTimeout
	if until, ok := ctx.Deadline(); ok {
		left = min(left, time.Until(until)*9/10)
	}
	wait := max(left.Milliseconds(), 1) // 0 would be for ever
	// WAIT waits for everything that the server had written when the connection's last command
	// ended, also for the changes of others. The entries read by the script are therefore safe as
	// well.
	for _, eval := range []func(redis.Pipeliner) *redis.Cmd{
		func(p redis.Pipeliner) *redis.Cmd { return script.EvalSha(ctx, p, s.keys, args...) },
		func(p redis.Pipeliner) *redis.Cmd { return script.Eval(ctx, p, s.keys, args...) },
	} {
		var did, waited, synced *redis.Cmd
		s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			did = eval(p)
			if s.options.WaitReplicas > 0 {
				waited = p.Do(ctx, "WAIT", s.options.WaitReplicas, wait)
			}
			if s.options.WaitAOF {
				synced = p.Do(ctx, "WAITAOF", 1, 0, wait)
			}
			return nil
		}) // each command has its own error
		reply, failed := did.Result()
		switch {
		case redis.HasErrorPrefix(failed, "NOSCRIPT"):
			continue
		case failed != nil:
			return nil, failed
		}
		if waited != nil {
			if n, err := waited.Int(); err != nil || n < s.options.WaitReplicas {
				return nil, &waitError{fmt.Sprintf("%d replicas of %d had it in time", n, s.options.WaitReplicas), err}
			}
		}
		if synced != nil {
			if n, err := synced.Int64Slice(); err != nil || len(n) < 1 || n[0] < 1 {
				return nil, &waitError{"it was not on the server's disk in time", err}
			}
		}
		return reply, nil
	}
	return nil, errors.New("the server does not keep the script that it was given")
}

// A waitError reports that a change was made or read, but did not reach the replicas or the disk in
// time.
type waitError struct {
	text string
	err  error
}

func (e *waitError) Error() string {
	if e.err != nil {
		return e.text + ": " + e.err.Error()
	}
	return e.text
}

func (e *waitError) Unwrap() error { return e.err }

// Prepare makes the keys for the entries. If the keys exist, Prepare only checks for keys of leases
// with a known version.
func (s *Store) Prepare(ctx context.Context) error {
	return driver.Do(ctx, s.Handle, "prepare", func(ctx context.Context) error {
		_, _, _, err := s.do(ctx, prepareScript, newName())
		return err
	})
}

// newName returns the name of a new hash.
func newName() string { return strings.ToLower(rand.Text()) }

func (s *Store) get(ctx context.Context, key string) (driver.Entry, error) {
	rest, store, _, err := s.do(ctx, getScript, key)
	switch {
	case err != nil:
		return driver.Entry{}, err
	case len(rest) == 0 || rest[0] == nil:
		return driver.Entry{Place: s.place(store)}, driver.ErrNotFound
	}
	e := s.entry(key, rest[0], store)
	return e, e.Err
}

// pageSize is the most entries to ask for at a time. Lua takes a few thousand arguments.
const pageSize = 1000

func (s *Store) list(ctx context.Context, prefix string) ([]driver.Entry, error) {
	low, high := "["+prefix, "("+prefix+"{" // all characters of keys are before '{'
	var list []driver.Entry
	for {
		rest, store, _, err := s.do(ctx, listScript, low, high, pageSize)
		if err != nil {
			return nil, err
		}
		if len(rest) != 2 {
			return nil, errors.New("the server's answer is not a list")
		}
		keys, _ := rest[0].([]any)
		values, _ := rest[1].([]any)
		for i, k := range keys {
			if i >= len(values) {
				return nil, errors.New("the server's answer has more keys than values")
			}
			list = append(list, s.entry(text(k), values[i], store))
		}
		if len(keys) < pageSize {
			return list, nil
		}
		low = "(" + list[len(list)-1].Key
	}
}

// Batch returns 1024: one script reads or creates the records of a whole pool of most formats.
func (s *Store) Batch() int { return 1024 }

// GetAll returns the entries of keys, as of one moment.
func (s *Store) GetAll(ctx context.Context, keys []string) ([]driver.Entry, error) {
	return driver.GetAll(ctx, s.Handle, keys, func(ctx context.Context, keys []string) ([]driver.Entry, error) {
		args := make([]any, len(keys))
		for i, key := range keys {
			args[i] = key
		}
		values, store, err := s.listed(ctx, getAllScript, len(keys), args)
		if err != nil {
			return nil, err
		}
		var entries []driver.Entry
		for i, value := range values {
			if value != nil {
				entries = append(entries, s.entry(keys[i], value, store))
			}
		}
		return entries, nil
	})
}

// CreateAll creates all entries that don't exist, or none, by one script.
func (s *Store) CreateAll(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error) {
	return driver.CreateAll(ctx, s.Handle, entries, func(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error) {
		var args []any
		for _, e := range entries {
			args = append(args, e.Key, e.Value)
		}
		versions, store, err := s.listed(ctx, createAllScript, len(entries), args)
		if err != nil {
			return nil, err
		}
		revs := make([]driver.Revision, len(entries))
		for i := range revs {
			if version := text(versions[i]); version != "" {
				revs[i] = revision(version, store)
			}
		}
		return revs, nil
	})
}

// listed runs a script whose answer is a list of n elements.
func (s *Store) listed(ctx context.Context, script *redis.Script, n int, args []any) (list []any, store string, err error) {
	rest, store, _, err := s.do(ctx, script, args...)
	if err != nil {
		return nil, "", err
	}
	if len(rest) == 1 {
		list, _ = rest[0].([]any)
	}
	if len(list) != n {
		return nil, "", fmt.Errorf("the server's answer is not a list of %d", n)
	}
	return list, store, nil
}

// entry reads a field of the hash: the version, a space, and the value.
func (s *Store) entry(key string, field any, store string) driver.Entry {
	version, value, ok := strings.Cut(text(field), " ")
	if ok && isNumber(version) && len(value) <= driver.MaxValue {
		return driver.Entry{Key: key, Value: []byte(value), Revision: revision(version, store), Place: s.place(store)}
	}
	e := driver.Entry{Key: key, Err: fmt.Errorf("%w: the field of %s is not what a store writes, or gone", driver.ErrDamaged, s.keys[0])}
	if field != nil {
		e.Revision = revision(fmt.Sprintf("%s%x", unversioned, sha1.Sum([]byte(text(field)))), store)
	}
	return e
}

// place returns where a hash with a name is: the name, the number of the database, and the prefix. The server has
// nothing that lasts over restarts and differs in a copy of all its keys.
func (s *Store) place(name string) string {
	number := 0
	if c, ok := s.client.(*redis.Client); ok {
		number = c.Options().DB
	}
	return fmt.Sprintf("%s/%d/%s", name, number, s.options.Prefix)
}

// unversioned begins the version, in a revision, of a damaged field without a version. The checksum
// of the field follows.
const unversioned = "x"

func revision(version, store string) driver.Revision { return driver.Revision(version + "." + store) }

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// put cannot cancel a request: the change of a call that was given up may still be made later.
func (s *Store) put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	version, store, _ := strings.Cut(string(rev), ".")
	if rev != driver.None && !isNumber(version) && !strings.HasPrefix(version, unversioned) {
		return driver.None, driver.ErrConflict // no entry has the revision
	}
	_, store, count, err := s.do(ctx, putScript, key, version, store, value)
	if err != nil {
		return driver.None, err
	}
	return revision(strconv.FormatUint(count, 10), store), nil
}

// backwards returns an error that latches the handle if the hash has another name than before, or a
// lower count of changes. A compare-and-swap proves nothing after changes were lost. backwards sees
// no loss from before this store was opened.
func (s *Store) backwards(store string, count, before uint64) error {
	known := s.name.Load()
	if known == nil && store != "" {
		s.name.CompareAndSwap(nil, &store)
		known = s.name.Load()
	}
	lost := func(format string, args ...any) error {
		return driver.Latch(&driver.Error{Err: fmt.Errorf("%w: %s", driver.ErrUnsafe, fmt.Sprintf(format, args...)), Remedy: driver.RemedyRestored})
	}
	switch {
	case known == nil:
		return nil
	case store == "":
		return lost("%s was there, and is gone", s.keys[0])
	case store != *known:
		return lost("%s was deleted and made again", s.keys[0])
	case count < before:
		return lost("the server has %d changes of %s, but had %d: it has forgotten some", count, s.keys[0], before)
	}
	s.seen.Advance(count)
	return nil
}
