package filelease

import (
	"fmt"
	"strings"
)

// A filesystem holds the properties that matter to a store.
type filesystem struct {
	name   string
	flaw   string // why leases are not safe there; "" if they are
	loses  string // which entries the filesystem can lose although leases are safe; "" if no entries
	advice string // where to move the pools
}

const (
	shared  = "which several machines may share, whose locks and renames need not see each other"
	foreign = "which cannot be known to be local or to keep what is synced"
	frail   = "which does not replace a file in one step if the power fails"
	unknown = "which is not known to be safe"

	forgets = "entries are lost when the machine or the container restarts; IDs come twice if the clock is set back meanwhile"
	layered = "entries are lost with their container, and no other container sees them; two containers make the same IDs"

	// A new directory knows nothing of the workers of processes that use the old one: all of them must have stopped
	// before a process starts there (driver.RemedyMove).
	useDisk   = "use a directory on a disk"
	useVolume = "use a directory on a volume that all containers of this machine share"
)

const (
	overlayMagic = 0x794c7630
	btrfsMagic   = 0x9123683e
)

// byMagic returns the filesystem of a type number of Linux (statfs(2), linux/magic.h).
//
// An unlisted filesystem is refused. To refuse a safe filesystem costs the user another directory.
// To accept an unsafe filesystem costs duplicate IDs.
func byMagic(magic uint32) filesystem {
	local := func(name string) filesystem { return filesystem{name: name} }
	remote := func(name string) filesystem { return filesystem{name: name, flaw: shared} }
	switch magic {
	case 0xef53:
		return local("ext4")
	case 0x58465342:
		return local("XFS")
	case btrfsMagic:
		return local("Btrfs")
	case 0x2fc12fc1:
		return local("ZFS")
	case 0xca451a4e:
		return local("bcachefs")
	case 0xf2f52010:
		return local("F2FS")
	case 0x3153464a:
		return local("JFS")
	case 0x52654973:
		return local("ReiserFS")
	case 0x3434:
		return local("NILFS")
	case 0x24051905:
		return local("UBIFS")
	case 0x72b6:
		return local("JFFS2")
	case 0xf15f:
		return local("eCryptfs")
	case 0x01021994:
		return filesystem{name: "tmpfs", loses: forgets, advice: useDisk}
	case 0x858458f6:
		return filesystem{name: "ramfs", loses: forgets, advice: useDisk}
	case overlayMagic:
		return filesystem{name: "overlayfs", loses: layered, advice: useVolume}

	case 0x6969:
		return remote("NFS")
	case 0x517b:
		return remote("SMB")
	case 0xff534d42:
		return remote("CIFS")
	case 0xfe534d42:
		return remote("SMB2")
	case 0x01021997:
		return remote("9P")
	case 0x00c36400:
		return remote("Ceph")
	case 0x0bd00bd0:
		return remote("Lustre")
	case 0x01161970:
		return remote("GFS2")
	case 0x7461636f:
		return remote("OCFS2")
	case 0x5346414f, 0x6b414653:
		return remote("AFS")
	case 0x73757245:
		return remote("Coda")
	case 0x564c:
		return remote("NCP")
	case 0x47504653:
		return remote("GPFS")
	case 0x19830326:
		return remote("BeeGFS")
	case 0x20030528:
		return remote("OrangeFS")
	case 0xaad7aaea:
		return remote("PanFS")
	case 0x61636673:
		return remote("ACFS")
	case 0xbeefdead:
		return remote("StorNext")
	case 0x786f4256:
		return remote("VirtualBox's shared folders")
	case 0xbacbacbc:
		return remote("VMware's shared folders")
	case 0x7c7c6673:
		return remote("Parallels' shared folders")
	case 0x65735546:
		return filesystem{name: "FUSE", flaw: foreign}
	case 0x4d44:
		return filesystem{name: "FAT", flaw: frail}
	case 0x2011bab0:
		return filesystem{name: "exFAT", flaw: frail}
	case 0x5346544e, 0x7366746e:
		return filesystem{name: "NTFS", flaw: frail}
	case 0x4244, 0x482b:
		return filesystem{name: "HFS", flaw: frail}
	}
	return filesystem{name: fmt.Sprintf("a filesystem of type %#x", magic), flaw: unknown}
}

// mntLocal is MNT_LOCAL, the same on macOS and the BSDs.
const mntLocal = 0x1000

// byName returns the filesystem with a name of macOS or a BSD, and the flags of the filesystem.
func byName(name string, flags uint64) filesystem {
	on := filesystem{name: name}
	switch {
	case strings.Contains(name, "fuse"):
		on.flaw = foreign
	case flags&mntLocal == 0:
		on.flaw = shared
	default:
		switch name {
		case "apfs", "hfs", "ufs", "ffs", "zfs", "hammer", "hammer2", "nullfs", "null":
		case "tmpfs", "mfs":
			on.loses, on.advice = forgets, useDisk
		case "msdos", "msdosfs", "exfat":
			on.flaw = frail
		default:
			on.flaw = unknown
		}
	}
	return on
}

// byVolume returns the filesystem of a volume of Windows: the name given by the volume, and the
// type of the drive. A file of another machine is remote.
func byVolume(name string, drive uint32, remote bool) filesystem {
	const ( // GetDriveType
		driveRemote = 4
		driveRAM    = 6
	)
	on := filesystem{name: name}
	switch strings.ToLower(name) {
	case "ntfs", "refs":
	case "fat", "fat32", "exfat":
		on.flaw = frail
	case "csvfs":
		on.flaw = shared
	default:
		on.flaw = unknown
	}
	switch {
	case remote || drive == driveRemote:
		on.flaw = shared
	case drive == driveRAM && on.flaw == "":
		on.loses, on.advice = forgets, useDisk
	}
	return on
}

// text returns the string in an array of C.
func text(chars []int8) string {
	var b []byte
	for _, c := range chars {
		if c == 0 {
			break
		}
		b = append(b, byte(c))
	}
	return string(b)
}
