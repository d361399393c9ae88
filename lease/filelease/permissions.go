package filelease

import (
	"fmt"

	"github.com/firn-id/firn/internal/shell"
	"github.com/firn-id/firn/lease/internal/rights"
)

// Permissions returns commands of a shell for root that let the users of a group share the directory of an
// address, which may have a store already. It is for systems with groups and modes of files.
func Permissions(address, group string) (string, error) {
	dir, err := settle(address)
	if err != nil {
		return "", err
	}
	if err := rights.User(group); err != nil {
		return "", err
	}
	// New files get the group and the permissions of the directory. Earlier files have the group of their maker.
	return fmt.Sprintf("install -d -g %s -m 2770 %s\nchgrp -R %[1]s %[2]s\nfind %[2]s -type d -exec chmod 2770 {} +\nfind %[2]s -type f -exec chmod g+r {} +\n",
		group, shell.Word(dir)), nil
}
