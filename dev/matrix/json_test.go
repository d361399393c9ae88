package matrix

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/firn-id/firn/dev/matrix/cell"
)

// member is the store of the names of object members.
func member[T cell.ID]() cell.Store[T] {
	return values[T](func(d any) ([]byte, error) {
		v := d.(record[T])
		return json.Marshal(map[T]int{v.ID: v.N})
	}, func(data []byte, d any) error {
		v := d.(*record[T])
		var m map[T]int
		if err := json.Unmarshal(data, &m); err != nil {
			return err
		}
		if len(m) != 1 {
			return fmt.Errorf("%d members", len(m))
		}
		for id, n := range m {
			*v = record[T]{n, id}
		}
		return nil
	})
}

// jsonV2 runs the cells of encoding/json/v2 in a process of their own: the package is only there in a build with
// GOEXPERIMENT=jsonv2.
func jsonV2(t *testing.T, m *table) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "run", "./jsonv2")
	command.Env = append(os.Environ(), "GOEXPERIMENT=jsonv2")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v", command, err)
	}
	var cells []struct {
		Way, Type string
		Outcome   cell.Outcome
	}
	if err := json.Unmarshal(out, &cells); err != nil {
		t.Fatal(err)
	}
	if len(cells) == 0 {
		t.Fatal("no cells of encoding/json/v2")
	}
	for _, c := range cells {
		m.set(groupWire, c.Way, c.Type, c.Outcome)
	}
}
