// Package files has the commands for files of IDs: firn verify, firn sort, firn merge and firn convert.
package files
