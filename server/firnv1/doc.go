// Package firnv1 has the messages and the client of the service firn.v1.Firn, by which a server of Firn gives IDs to
// programs by gRPC. The file proto/firn/v1/firn.proto of this module documents the service, and has the comments that
// the types here have. Clients of other languages generate their code from the file, or ask the server for the schema by
// reflection.
//
//	conn, err := grpc.NewClient("127.0.0.1:7433", grpc.WithTransportCredentials(insecure.NewCredentials()))
//	if err != nil { … }
//	batch, err := firnv1.NewFirnClient(conn).Take(ctx, &firnv1.TakeRequest{Name: "nanoflake", Count: new(uint32(100))})
package firnv1
