package address_test

import (
	"fmt"
	"log"
	"time"

	"github.com/firn-id/firn/lease/address"
)

// A store takes the settings of its address one by one. Err then reports the first mistake, and settings that
// the store does not have.
func ExampleParse() {
	a, err := address.Parse("etcd://etcd-1,etcd-2:2400/ids?timeout=2s&tls=true")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Endpoints("2379", "127.0.0.1"), a.Path, a.Duration("timeout", 5*time.Second), a.TLS() != nil)
	fmt.Println(a.Err())

	a, err = address.Parse("etcd://etcd-1/ids?time-out=2s")
	if err != nil {
		log.Fatal(err)
	}
	a.Duration("timeout", 5*time.Second)
	fmt.Println(a.Err())
	// Output:
	// [etcd-1:2379 etcd-2:2400] ids 2s true
	// <nil>
	// invalid address of a store of the kind etcd://: it has no setting time-out, only timeout
}
