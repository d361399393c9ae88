// Package databases has the examples of docs/databases, each run against the real thing. Each folder
// has the code of the page with its name. The test of this package compares the pages with the code.
package databases
