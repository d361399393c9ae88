package filelease

import (
	"strings"
	"testing"
)

func TestByMagic(t *testing.T) {
	for magic, want := range map[uint32]filesystem{
		0xef53:     {name: "ext4"},
		0x58465342: {name: "XFS"},
		0x9123683e: {name: "Btrfs"},
		0x2fc12fc1: {name: "ZFS"},
		0x01021994: {name: "tmpfs", loses: forgets, advice: useDisk},
		0x858458f6: {name: "ramfs", loses: forgets, advice: useDisk},
		0x794c7630: {name: "overlayfs", loses: layered, advice: useVolume},
		0x6969:     {name: "NFS", flaw: shared},
		0x517b:     {name: "SMB", flaw: shared},
		0xff534d42: {name: "CIFS", flaw: shared},
		0xfe534d42: {name: "SMB2", flaw: shared},
		0x01021997: {name: "9P", flaw: shared},
		0x65735546: {name: "FUSE", flaw: foreign},
		0x00c36400: {name: "Ceph", flaw: shared},
		0x0bd00bd0: {name: "Lustre", flaw: shared},
		0x01161970: {name: "GFS2", flaw: shared},
		0x7461636f: {name: "OCFS2", flaw: shared},
		0x5346414f: {name: "AFS", flaw: shared},
		0x6b414653: {name: "AFS", flaw: shared},
		0x73757245: {name: "Coda", flaw: shared},
		0x786f4256: {name: "VirtualBox's shared folders", flaw: shared},
		0xbacbacbc: {name: "VMware's shared folders", flaw: shared},
		0x4d44:     {name: "FAT", flaw: frail},
		0xdeadbeef: {name: "a filesystem of type 0xdeadbeef", flaw: unknown},
	} {
		if got := byMagic(magic); got != want {
			t.Errorf("byMagic(%#x) = %v, want %v", magic, got, want)
		}
	}
}

func TestByName(t *testing.T) {
	for _, c := range []struct {
		flags uint64
		want  filesystem
	}{
		{mntLocal, filesystem{name: "apfs"}},
		{mntLocal | 1, filesystem{name: "ufs"}},
		{0, filesystem{name: "apfs", flaw: shared}},
		{0, filesystem{name: "nfs", flaw: shared}},
		{^uint64(mntLocal), filesystem{name: "smbfs", flaw: shared}},
		{mntLocal, filesystem{name: "macfuse", flaw: foreign}},
		{mntLocal, filesystem{name: "fusefs.sshfs", flaw: foreign}},
		{mntLocal, filesystem{name: "tmpfs", loses: forgets, advice: useDisk}},
		{mntLocal, filesystem{name: "msdosfs", flaw: frail}},
		{mntLocal, filesystem{name: "other", flaw: unknown}},
	} {
		var chars [16]int8
		for i, b := range []byte(c.want.name) {
			chars[i] = int8(b)
		}
		if got := byName(text(chars[:]), c.flags); got != c.want {
			t.Errorf("byName(%s, %#x) = %v, want %v", c.want.name, c.flags, got, c.want)
		}
	}
	for _, c := range []struct {
		drive  uint32
		remote bool
		want   filesystem
	}{
		{3, false, filesystem{name: "NTFS"}},
		{2, false, filesystem{name: "NTFS"}},
		{3, false, filesystem{name: "ReFS"}},
		{4, false, filesystem{name: "NTFS", flaw: shared}},
		{3, true, filesystem{name: "NTFS", flaw: shared}},
		{3, false, filesystem{name: "CSVFS", flaw: shared}},
		{6, false, filesystem{name: "NTFS", loses: forgets, advice: useDisk}},
		{6, false, filesystem{name: "FAT", flaw: frail}},
		{2, false, filesystem{name: "exFAT", flaw: frail}},
		{3, false, filesystem{name: "UDF", flaw: unknown}},
	} {
		if got := byVolume(c.want.name, c.drive, c.remote); got != c.want {
			t.Errorf("byVolume(%s, %d, %t) = %v, want %v", c.want.name, c.drive, c.remote, got, c.want)
		}
	}
	if s := strings.Repeat("x", 3); text([]int8{'x', 'x', 'x'}) != s {
		t.Error("a name that fills its array is cut")
	}
}
