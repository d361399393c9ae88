// Package files has the commands for files of IDs: firn verify and firn convert.
package files
