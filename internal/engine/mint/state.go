package mint

import "time"

// Epoch returns the time of timestamp 0, in UTC.
func (m *Mint) Epoch() time.Time { return m.timeOf(0) }

// Latest returns the bits of the worker that the mint has now. For a mint with a lease the worker is
// that of the latest grant, and 0 before the first grant.
func (m *Mint) Latest() uint64 { return m.fence.Latest() }
