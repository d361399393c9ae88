package fence

// Latest returns the bits of the worker of the latest grant, whether or not its ticks have begun: 0
// before the first grant. Without a lease they are the bits that Fix was given, and 0 before Fix.
func (f *Fence) Latest() uint64 {
	if a := f.ahead.Load(); a != nil {
		return a.worker
	}
	if s := f.newest.Load(); s != nil {
		return s.worker
	}
	return 0
}
