// Package shop reads IDs from a configuration, from the environment and from CSV: docs/databases/configuration.md
// has the same code.
package shop

import (
	"encoding"
	"encoding/csv"
	"fmt"
	"io"
	"reflect"

	"github.com/spf13/viper"

	"github.com/firn-id/firn/nanoflake"
)

// A Config names the tenant, and tenants with another address. Keys of a file are texts.
type Config struct {
	Tenant  nanoflake.ID            `mapstructure:"tenant"`
	Parent  *nanoflake.ID           `mapstructure:"parent"`
	Blocked []nanoflake.ID          `mapstructure:"blocked"`
	Hosts   map[nanoflake.ID]string `mapstructure:"hosts"`
}

// TextHook is a hook of mapstructure, viper and koanf: a type with the method UnmarshalText reads a
// string by the method, and refuses any other value.
func TextHook(from, to reflect.Type, data any) (any, error) {
	value := reflect.New(to)
	reader, ok := value.Interface().(encoding.TextUnmarshaler)
	if !ok || from == to {
		return data, nil
	}
	text, ok := data.(string)
	if !ok {
		return nil, fmt.Errorf("%v is a %v, and no text of a %v: write the text in quotes", data, from, to)
	}
	if err := reader.UnmarshalText([]byte(text)); err != nil {
		return nil, err
	}
	return value.Elem().Interface(), nil
}

// Load reads a configuration in YAML.
func Load(file io.Reader) (c Config, err error) {
	v := viper.New()
	v.SetConfigType("yaml")
	if err := v.ReadConfig(file); err != nil {
		return Config{}, err
	}
	err = v.Unmarshal(&c, viper.DecodeHook(TextHook))
	return c, err
}

// ParseKeys reads the keys of a map, for libraries that read keys by kind.
func ParseKeys[V any](m map[string]V) (map[nanoflake.ID]V, error) {
	all := make(map[nanoflake.ID]V, len(m))
	for key, value := range m {
		id, err := nanoflake.Parse(key)
		if err != nil {
			return nil, err
		}
		all[id] = value
	}
	return all, nil
}

// Tenants reads the IDs in the first column of a file in CSV.
func Tenants(file io.Reader) (ids []nanoflake.ID, err error) {
	rows := csv.NewReader(file)
	for {
		row, err := rows.Read()
		if err == io.EOF {
			return ids, nil
		}
		if err != nil {
			return nil, err
		}
		id, err := nanoflake.Parse(row[0])
		if err != nil {
			line, _ := rows.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		ids = append(ids, id)
	}
}
