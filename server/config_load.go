package server

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/firn-id/firn/internal/ages"
	"github.com/firn-id/firn/server/internal/settings"
)

// file is the form of a configuration: the fields of a Config with a tag, and beside them the settings that TOML has in
// another form. docs/server-configuration.md has all settings.
type file struct {
	Config
	Drain  settings.Duration `toml:"drain" zero:"default"`
	Limits struct {
		Limits
		Wait settings.Duration `toml:"wait" zero:"default"`
	} `toml:"limits"`
	Lease struct {
		Window settings.Duration `toml:"window" zero:"default"`
		Lease
	} `toml:"lease"`
	Generators map[string]struct {
		Generator
		Epoch any `toml:"epoch"`
	} `toml:"generators"`
}

// Load reads the Config from a file of TOML. A name that Load does not know is an error, and so is a value of another
// type. Errors about the text of the file are a *[ConfigError], with the line. Load does not call [Config.Check], so
// the caller can change the Config before.
func Load(path string) (Config, error) {
	var f file
	read, err := settings.Read(path, &f, nil)
	if bad, ok := errors.AsType[*settings.Error](err); ok {
		err = (*ConfigError)(bad)
	}
	if err != nil {
		return Config{}, err
	}
	c := f.Config
	c.file, c.Limits, c.Lease, c.Drain = read, f.Limits.Limits, f.Lease.Lease, f.Drain.Duration
	c.Limits.Wait, c.Lease.Window = f.Limits.Wait.Duration, f.Lease.Window.Duration
	for _, name := range slices.Sorted(maps.Keys(f.Generators)) {
		g := f.Generators[name].Generator
		g.Name = name
		if at := f.Generators[name].Epoch; at != nil {
			if g.Epoch, err = epochOf(at); err != nil {
				return Config{}, c.generatorError(&g, "epoch", "%v", err)
			}
		}
		c.Generators = append(c.Generators, g)
	}
	return c, nil
}

// epochOf returns the time of a setting. A date is the beginning of the day in UTC.
func epochOf(v any) (t time.Time, err error) {
	switch v := v.(type) {
	case time.Time:
		t = v.UTC()
	case toml.LocalDate:
		t = v.AsTime(time.UTC)
	case int64:
		if t, err = ages.Unix(v); err != nil {
			return t, err
		}
	default:
		return t, errors.New("is not a time with a zone, a date, or Unix milliseconds, " +
			"as in 2024-01-01T00:00:00Z, 2024-01-01 or 1704067200000")
	}
	if t.IsZero() { // the default in a Config
		return t, errors.New("is not between the years 1 and 9999")
	}
	return t, nil
}
