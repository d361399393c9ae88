package loopback

import (
	"fmt"
	"net"
	"slices"
	"testing"
)

func TestPorts(t *testing.T) {
	ports, err := Ports(100)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Sort(ports); len(slices.Compact(slices.Clone(ports))) != 100 {
		t.Errorf("not 100 different ports: %d", ports)
	}
	for _, port := range ports {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Error(err)
			continue
		}
		l.Close()
	}
	if _, err := Ports(30000); err == nil {
		t.Error("more ports than there are")
	}
}
