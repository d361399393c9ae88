package pools

import (
	"time"

	"golang.org/x/sys/unix"
)

// readNTP returns what the kernel knows of the clock's accuracy.
func readNTP() (ntpStatus, error) {
	var tx unix.Timex // no modes: nothing is set
	if _, err := unix.Adjtimex(&tx); err != nil {
		return ntpStatus{}, err
	}
	return ntpStatus{
		synchronised: tx.Status&unix.STA_UNSYNC == 0,
		estimated:    time.Duration(tx.Esterror) * time.Microsecond,
		most:         time.Duration(tx.Maxerror) * time.Microsecond,
	}, nil
}
