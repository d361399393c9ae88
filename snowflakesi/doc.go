// Package snowflakesi makes and reads Snowflake-SI IDs: 53-bit IDs in the order of
// time that JavaScript's numbers hold exactly.
//
//	 52                    13  12     8  7        0
//	┌────────────────────────┬─────────┬────────────┐
//	│ 40 bits                │ 5 bits  │ 8 bits     │   Layout{} , the default
//	│ MAB: timestamp, ms     │ MID:    │ UIN:       │
//	│                        │ machine │ sequence   │
//	└────────────────────────┴─────────┴────────────┘
//
// The widths are adjustable, by a [Layout]: 40 or 41 bits of timestamp, 0 to 13 of
// machine ID, and the sequence has the rest. An ID does not say its layout and epoch:
// an application chooses them and keeps them.
//
//	gen, err := snowflakesi.NewGenerator(snowflakesi.Config{MachineID: 19})
//	id, err := gen.Next(ctx) // 1527083958403961
//
// # Uniqueness and order
//
// Two IDs are never equal if their generators have the same epoch and layout and
// different machine IDs, or are one and the same [Generator]. That holds for any
// number of goroutines and whatever the clock does while the process runs. A
// generator does not remember its last ID over a restart: a process that starts
// again with the clock set back can repeat IDs.
//
// The IDs of one generator increase in the order in which they are issued, and so do
// their binary forms. Decimal texts are not padded, and sort so only among those of
// one length.
//
// # Zero
//
// No generator makes the zero ID. It stands for "no ID": it is null in JSON and
// NULL in SQL, and both are read as zero. Text and binary forms write its zeros.
package snowflakesi
