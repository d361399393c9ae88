// Package tools pins the versions of the tools that find the licences and the parts of the program firn, and
// of the one that writes versions and tags of releases.
//
// The module is never published, and no other module requires the module. The module is not in
// go.work: all modules there would be built with its requirements.
package tools
