package lease

// answers reports whether a program that asks who held the worker gets an answer. A record of an earlier
// generation is refused, and between a restore and the recovery nobody asks.
func (s *simulation) answers(worker int) bool {
	r, ok := s.judge.record[worker]
	shared := s.missed && s.without == checkUnique // timestamps of two leases, of which no history can be right
	return ok && !shared && !s.store.closed && r.Generation == s.made().Generation
}

// judgeHistory judges what the record of a worker says of all IDs of the worker.
func (s *simulation) judgeHistory(worker int) {
	if !s.answers(worker) {
		return
	}
	for _, made := range s.judge.made[worker] {
		s.judgeNamed(worker, made)
	}
}

// judgeMaker judges what the record of a worker says of a new ID. A history knows nothing of IDs that
// a lease made where it was allocated nothing.
func (s *simulation) judgeMaker(worker int, made simMade) {
	if all := s.judge.made[worker]; len(all) > 0 && all[len(all)-1] == made {
		return
	}
	s.judge.made[worker] = append(s.judge.made[worker], made)
	if s.answers(worker) {
		s.judgeNamed(worker, made)
	}
}

// judgeNamed judges what the record of a worker says of an ID.
func (s *simulation) judgeNamed(worker int, made simMade) {
	r := s.judge.record[worker]
	maker, h := s.leases[made.lease], r.holderAt(made.at)
	switch {
	case h == nil:
		s.counts[simNameless]++
		return
	case h.Count > 0:
		s.counts[simFolded]++
	default:
		s.counts[simNamed]++
	}
	if h.Host != maker.me.Host || h.Program != maker.me.Program || h.Process != maker.me.Process && h.Count == 0 || h.Process != 0 && h.Count > 0 {
		s.wrong(checkNamed, worker, "an ID of worker %d at %s is named %s's, and %s has made it", worker, simTime(made.at), h.holder(), maker.name)
	}
}
