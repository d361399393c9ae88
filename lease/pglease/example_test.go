package pglease_test

import (
	"context"
	"fmt"
	"log"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/pglease"
	"github.com/firn-id/firn/nanoflake"
)

// migrate makes the pool, and the table of a new database, once for all processes: in a migration, or
// by the command firn pool create.
func migrate(ctx context.Context, address string) error {
	store, err := pglease.Open(ctx, address)
	if err != nil {
		return err
	}
	defer store.Close()
	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		return err
	}
	wanted, err := gen.ForLease().Pool()
	if err != nil {
		return err
	}
	_, err = lease.Create(ctx, store, wanted.Name, wanted.Layout)
	return err
}

// serve is a process that makes IDs.
func serve(ctx context.Context, address string) error {
	store, err := pglease.Open(ctx, address)
	if err != nil {
		return err
	}
	defer store.Close()
	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		return err
	}
	held, err := lease.Start(ctx, store, gen, lease.Config{})
	if err != nil {
		return err
	}
	defer held.Close()

	id, err := gen.Next(ctx)
	if err != nil {
		return err
	}
	fmt.Println(id, gen.Time(id), id.GeneratorID())
	return nil
}

// All processes of a system open the same table. The pool is created once, before.
func ExampleOpen() {
	ctx := context.Background()
	address := "postgres://orders@db.example.com/orders?sslmode=verify-full&password-file=/run/secrets/orders"
	if err := migrate(ctx, address); err != nil {
		fmt.Println(err)
	}
	if err := serve(ctx, address); err != nil {
		fmt.Println(err)
	}
}

// An administrator runs these statements instead of Prepare. The user then needs no other right.
func ExampleSchema() {
	schema, err := pglease.Schema("ids.leases")
	if err != nil {
		log.Fatal(err)
	}
	grants, err := pglease.Grant("ids.leases", "orders")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(schema, grants)
	// Output:
	// BEGIN;
	// CREATE SCHEMA IF NOT EXISTS "ids";
	// CREATE TABLE "ids"."leases" (
	// 	key text COLLATE "C" PRIMARY KEY,
	// 	version bigint NOT NULL,
	// 	value bytea NOT NULL
	// ) WITH (fillfactor = 50);
	// COMMENT ON TABLE "ids"."leases" IS 'Leases of Firn. Do not delete or change a row by hand: IDs would be made twice.';
	// INSERT INTO "ids"."leases" (key, version, value) VALUES ('.schema', 1, '');
	// COMMIT;
	// GRANT USAGE ON SCHEMA "ids" TO "orders";
	// GRANT SELECT, INSERT, UPDATE ON "ids"."leases" TO "orders";
}
