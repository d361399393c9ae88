// Package complaints has a test for each thing that users of other ID services complained about. The name of a test has the
// project and the number of the complaint there. The comment says what users met, and why Firn cannot have it.
//
// Complaints about clients of Redis are tests beside the code of RESP: integers above 2^53 (node-redis 994, ioredis 2000).
package complaints
