// Package documents runs the blocks of code of all pages. Console blocks run in the order of their page, in one session of
// bash, but for those of root. Code of other languages is compiled or read, or a test elsewhere runs the code. A block that
// cannot run has a mark before its fence:
//
//	<!-- not run: needs Docker -->
//
// The folder testdata has the preparations of pages, by the page's name. The session reads a file PAGE.sh before the first
// command. Its function before, if there is one, gets each command and the output that the page shows, before the command
// runs. Its function block_LANGUAGE gets the file of each block of the language. A file PAGE.go declares what the page's
// pieces of Go do not.
package documents
