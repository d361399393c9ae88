//go:build goexperiment.jsonv2

// Command jsonv2 runs the cells of encoding/json/v2, and prints the outcomes as JSON. The command needs
// GOEXPERIMENT=jsonv2.
package main

import (
	v1 "encoding/json"
	"encoding/json/v2"
	"fmt"
	"os"

	"github.com/firn-id/firn/dev/matrix/cell"
)

type result struct {
	Way, Type string
	Outcome   cell.Outcome
}

var results []result

type document[T any] struct {
	ID T `json:"id"`
}

func column[T cell.ID](k cell.Kind[T]) {
	run := func(way string, marshal func(T) ([]byte, error), unmarshal func([]byte) (T, error)) {
		data := map[int][]byte{}
		results = append(results, result{way, k.Type, cell.Run(k, cell.Store[T]{
			Zero: true,
			Put: func(n int, id T) (err error) {
				data[n], err = marshal(id)
				return err
			},
			Get: func(n int) (T, error) { return unmarshal(data[n]) },
		})})
	}
	run("encoding/json in a build with GOEXPERIMENT=jsonv2", func(id T) ([]byte, error) {
		return v1.Marshal(document[T]{id})
	}, func(data []byte) (T, error) {
		var d document[T]
		err := v1.Unmarshal(data, &d)
		return d.ID, err
	})
	run("encoding/json/v2", func(id T) ([]byte, error) {
		return json.Marshal(document[T]{id})
	}, func(data []byte) (T, error) {
		var d document[T]
		err := json.Unmarshal(data, &d)
		return d.ID, err
	})
	run("encoding/json/v2, names of members", func(id T) ([]byte, error) {
		return json.Marshal(map[T]int{id: 1})
	}, func(data []byte) (id T, err error) {
		var m map[T]int
		if err := json.Unmarshal(data, &m); err != nil {
			return id, err
		}
		if len(m) != 1 {
			return id, fmt.Errorf("%d members", len(m))
		}
		for key := range m {
			id = key
		}
		return id, nil
	})
}

func main() {
	column(cell.Nanoflake())
	column(cell.NanoflakeText())
	column(cell.Ulidflake())
	column(cell.UlidflakeText())
	column(cell.Scalable())
	column(cell.ScalableText())
	column(cell.Snowflake())
	column(cell.SCRU160())
	column(cell.SCRU160Binary())
	column(cell.Sno())
	column(cell.SnoText())
	column(cell.SnoUUID())
	if err := json.MarshalWrite(os.Stdout, results); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
