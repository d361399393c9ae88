/*
 * How processes lease workers from a store: the protocol of package lease, for the
 * model checker spin. README.md says what is modelled, what is left out, and how to
 * run it.
 *
 * The store has a record for each worker, with a time `until`. A process that raises it by
 * compare-and-swap is granted an interval that begins at the old until, or later, and ends
 * at the new one. The property, which grant() asserts: no tick of a worker is ever granted
 * to two incarnations.
 *
 *	-DPROCS=3 -DWORKERS=2 -DTICKS=3  the sizes
 *	-DPLAIN -DSENDS=3                forget nothing; at most SENDS requests
 *	-DRESTORE                        the store is restored from a backup; implies PLAIN
 *	-DHISTORY                        records name their holders; implies PLAIN
 *	-DMUTANT_...                     one rule is broken; implies PLAIN
 */

#ifndef PROCS
#define PROCS 3
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef TICKS
#define TICKS 3		/* time is 0 .. TICKS; a tick is the time from one to the next */
#endif

#define NONE	0	/* no revision, no nonce, no call, no owner */
#define ENDED	255	/* owner of a tick: an incarnation that mints no more */

/*
 * The rules, and how each mutant breaks its rule.
 */

/* An interval begins no sooner than the one before it ends, whatever the clock says. */
#ifdef MUTANT_CLOCK_BEHIND
#define MUTANT
#define EARLIEST(until)		0
#else
#define EARLIEST(until)		until
#endif

/* The store makes a change only at the revision that it was asked for. */
#if defined(MUTANT_BLIND_PUT)
#define MUTANT
#define SWAPS(r, w)		true
#define NEW_UNTIL(r, w)		r.until
#elif defined(MUTANT_ADVANCE_TO_AT_LEAST)
#define MUTANT
#define SWAPS(r, w)		true
#define NEW_UNTIL(r, w)		(r.until > record[w].until -> r.until : record[w].until)
#else
#define SWAPS(r, w)		(r.rev == record[w].rev)
#define NEW_UNTIL(r, w)		r.until
#endif

/* Every attempt has a nonce of its own. */
#ifdef MUTANT_SHARED_NONCE
#define MUTANT
byte starts[PROCS];
#define NONCE(call)		(starts[_pid]*PROCS + _pid + 1)	/* one for each incarnation */
#else
#define NONCE(call)		(call)
#endif

/* An attempt that was not answered with success has succeeded only if its nonce is stored. */
#ifdef MUTANT_NONCE_NOT_COMPARED
#define MUTANT
#define STORED(r, w)		true
#else
#define STORED(r, w)		(r.nonce == record[w].nonce)
#endif

/* Nothing is minted before its acknowledgement. */
#ifdef MUTANT_MINT_BEFORE_ACKNOWLEDGEMENT
#define MUTANT
#define MINTS_EARLY		true
#else
#define MINTS_EARLY		false
#endif

/* A process mints only inside its intervals, not in the gap between two of them. */
#ifdef MUTANT_GAP_BRIDGED
#define MUTANT
#define BRIDGES_GAPS		true
#else
#define BRIDGES_GAPS		false
#endif

/* A record that is missing is an error, and not first use. */
#ifdef MUTANT_DELETED_RECORD
#define MUTANT
#define FIRST_USE		true
#else
#define FIRST_USE		false
#endif

/* A process gives back by its own revision ... */
#ifdef MUTANT_GIVE_BACK_AT_ANY_REVISION
#define MUTANT
#define GIVE_BACK_REV(l, w)	record[w].rev
#else
#define GIVE_BACK_REV(l, w)	l.rev
#endif

/* ... no more than it was granted by that revision and those of its own before ... */
#ifdef MUTANT_GIVE_BACK_TOO_MUCH
#define MUTANT
#define GIVE_BACK_TO(l)		0
#else
#define GIVE_BACK_TO(l)		l.floor
#endif

/* ... and mints no more from then on. */
#ifdef MUTANT_MINT_AFTER_GIVE_BACK
#define MUTANT
#define SEALED			false
#else
#define SEALED			true
#endif

/* A process that withdraws times from its generator mints no more in them ... */
#ifdef MUTANT_MINT_AFTER_WITHDRAWAL
#define MUTANT
#define WITHDRAWS		false
#else
#define WITHDRAWS		true
#endif

/* ... and withdraws none that another had. */
#ifdef MUTANT_WITHDRAW_TOO_MUCH
#define MUTANT
#define WITHDRAW_TO(l)		0
#else
#define WITHDRAW_TO(l)		l.floor
#endif

/* Ownership is never inferred from a name. Processes 0 and 1 are on one host. */
#ifdef MUTANT_HOST_NAME
#define MUTANT
#define HOST(p)			((p)/2 + 1)
#endif

/*
 * A store that was restored from a backup is used again only when each until is at least as
 * high as any that was ever stored, and it uses no revision again.
 */
#if defined(MUTANT_ROLLED_BACK_RECORD)
#define RESTORE
#define RESTORED_UNTIL(w)	backup[w].until
#define RESTORED_REVS(w)	revs[w] + 1
#elif defined(MUTANT_REUSED_REVISION)
#define RESTORE
#define RESTORED_UNTIL(w)	highest[w]
#define RESTORED_REVS(w)	backup[w].revs + 1
#else
#define RESTORED_UNTIL(w)	highest[w]
#define RESTORED_REVS(w)	revs[w] + 1
#endif

/*
 * A record names the incarnations that held the worker. The entry of a lease begins with its
 * first interval since it took the worker from another, ...
 */
#ifdef MUTANT_ENTRY_KEPT
#define MUTANT
#define HISTORY
#define RENEWS(r)		(ME.rev != NONE)
#else
#define RENEWS(r)		(ME.rev != NONE && r == ME.rev)
#endif

/* ... ends where the record ends, ... */
#ifdef MUTANT_ENTRY_NOT_CUT
#define MUTANT
#define HISTORY
#define CUTS_ENTRY		false
#else
#define CUTS_ENTRY		true
#endif

/* ... and is dropped from a backup, unless the lease had ended. */
#ifdef MUTANT_ENTRY_RESTORED
#define MUTANT
#define HISTORY
#define RESTORE
#define DROPS_ENTRY		false
#else
#define DROPS_ENTRY		true
#endif

#if defined(MUTANT) || defined(RESTORE) || defined(HISTORY)
#undef PLAIN
#define PLAIN
#endif

/*
 * State. The pair of process p and worker w has the index p*WORKERS + w.
 */

#define PAIRS (PROCS*WORKERS)

/* What the store has of a worker. Its pool is created before anything else. */
typedef Record {
	byte rev = 1;	/* its revision; NONE: the record is missing */
	byte until;	/* time up to which ticks are allocated */
	byte nonce	/* of the attempt that wrote it; NONE: of none that anyone waits for */
#ifdef MUTANT_HOST_NAME
	; byte host	/* name of the holder's host; NONE: no holder */
#endif
#ifdef HISTORY
	; byte since	/* where the holder's entry begins; TICKS: no holder */
	; byte name[TICKS]	/* the incarnation that the history names for a tick, as in owner */
#endif
}

/* A compare-and-swap on its way to the store. */
typedef Request {
	byte sender;	/* its pair */
	byte rev;	/* the revision that the sender believes the record to have */
	byte until;
	byte nonce	/* NONE: a process gives back, or releases, and does not wait */
#ifdef HISTORY
	; byte by	/* the incarnation of the sender, as in owner; NONE: gives back */
	; byte since	/* where its entry in the history begins */
#endif
}

/* What a process knows about a worker. */
typedef Lease {
	byte rev;	/* its own last revision; NONE: none that it knows, or none yet */
	byte until;	/* where its last interval ends, as far as it was not withdrawn */
	byte end;	/* the same, as the record has it */
	byte floor;	/* where the times begin that nobody else had, from there up to end */
	/* the attempt that it waits for: */
	byte call;	/* index of the request + 1; NONE: it does not wait */
	byte from;	/* where the interval would begin (and end: the request's until) */
	byte newfloor;	/* what floor would be */
	bool success;	/* the answer is on its way: success, ... */
	byte newrev	/* ... and this is the new revision */
#ifdef HISTORY
	; byte since	/* where its entry in the history begins */
	; byte newsince
#endif
}

Record record[WORKERS];
Lease lease[PAIRS];

/*
 * owner[w*TICKS + t] is the incarnation that may have minted tick t of worker w, or may yet
 * mint it. No process and no store knows it: it is there for the assertion.
 */
byte owner[WORKERS*TICKS];

/*
 * The network. A request in it may arrive at any time, also after later ones, any number
 * of times, or never.
 */
#ifdef PLAIN

#ifndef SENDS
#define SENDS 5
#endif
#define CALLS	SENDS
byte sent;			/* requests so far: none is ever forgotten */
byte revs[WORKERS];		/* revisions so far: none is ever used again */
#ifdef RESTORE
typedef Backup {
	byte until;
	byte revs;
	bool used	/* once only */
#ifdef HISTORY
	; byte since
	; byte name[TICKS]
#endif
}
Backup backup[WORKERS];		/* at first, of the store as it is at first */
byte highest[WORKERS];		/* until that was ever stored */
#endif
#define MAY_SEND		(sent < SENDS)
#define ASK_CALL		sent
#define GIVE_BACK_CALL		sent
#define COUNT_SEND		sent++

/*
 * Processes are alike before they first ask, and so are workers before they are first asked
 * for: they begin in their order. (Another order would be the same with other names.)
 */
byte processes, workers;	/* that have begun */
#define IN_ORDER(p, w)		((p) <= processes && (w) <= workers)
#define BEGIN(p, w)		processes = ((p) == processes -> processes + 1 : processes); \
				workers = ((w) == workers -> workers + 1 : workers)
#define IN_FLIGHT(index)	(index < sent)
#define OWNER(p)		((p)+1)

#else

/*
 * Without PLAIN the number of requests, revisions and incarnations has no bound, because
 * all is forgotten that cannot matter any more:
 *
 * - A revision is never used again, so a request made at an old one meets a conflict,
 *   whenever it arrives. forget_revision() takes it out of the network. Its sender may as
 *   well stop waiting: to learn of the conflict later is to be slow in what it does next.
 *   Nor does it matter any more what a process knows of an old revision. The one that is
 *   left is called 1.
 * - The nonce of an attempt that nobody waits for is compared with none.
 * - Instead of remembering which attempts were abandoned (by processes that gave up
 *   waiting, or crashed) while their requests were on the way, the network makes up any that
 *   there could be, at any time. That allows more than can happen. Requests that give back
 *   are remembered.
 * - Of those that would lower a record's end, the network remembers how far the lowest does.
 *   (Until the revision passes, nobody can mint beyond where its sender's times end.)
 * - A tick is never granted twice even to one incarnation, so nobody needs to remember to
 *   which it was.
 *
 * With PLAIN nothing of this is used: its runs check the above, and the mutants, which do
 * not keep the rules that the above relies on, need it.
 */
#define CALLS			(PAIRS + WORKERS)
byte lowered[WORKERS];		/* the lowest end that an abandoned attempt asks for; NONE: none below the record's */
#define LOWEST(w)		(lowered[w] != NONE -> lowered[w] : record[w].until)
#define MAY_SEND		true
#define ASK_CALL		(_pid*WORKERS + w)
#define GIVE_BACK_CALL		(PAIRS + w)
#define COUNT_SEND		skip
#define IN_ORDER(p, w)		true
#define BEGIN(p, w)		skip
#define IN_FLIGHT(index)	(request[index].rev != NONE)
#define OWNER(p)		ENDED

#endif

Request request[CALLS];

/* Used within a step only, and zero between steps. */
byte tick, pair, proc, sender, newuntil, newnonce;
bool bridging;

inline end_step() {
	tick = 0;
	pair = 0;
	proc = 0;
	sender = 0;
	newuntil = 0;
	newnonce = NONE;
	bridging = false
}

/* A value between the two, which are included. */
inline any(variable, least, most) {
	variable = least;
	do
	:: variable < most -> variable++
	:: break
	od;
	skip	/* what follows may be a d_step, which a loop must not end in */
}

inline forget_request(index) {
	request[index].sender = 0;
	request[index].rev = NONE;
	request[index].until = 0;
	request[index].nonce = NONE
}

#ifdef HISTORY

/* The history names nobody else than the incarnation that may have minted a tick. */
inline check_names(worker) {
	for (tick : 0 .. TICKS-1) {
		assert(record[worker].name[tick] == NONE || tick < record[worker].until);
		assert(record[worker].name[tick] == NONE || owner[worker*TICKS + tick] == NONE ||
			record[worker].name[tick] == owner[worker*TICKS + tick])
	}
}

/* The store writes the entry of a request's sender. All times of others are before. */
inline write_names(worker, index) {
	for (tick : 0 .. TICKS-1) {
		if
		:: request[index].by != NONE && tick >= request[index].since && tick < request[index].until ->
			record[worker].name[tick] = request[index].by
		:: tick >= request[index].until && CUTS_ENTRY -> record[worker].name[tick] = NONE
		:: else
		fi
	}
	record[worker].since = (request[index].by == NONE -> TICKS : request[index].since);
	check_names(worker)
}

/* An incarnation has ended, for a worker: its name is that of all that have ended. */
inline end_name(worker, name_) {
	for (tick : 0 .. TICKS-1) {
		if
		:: record[worker].name[tick] == name_ -> record[worker].name[tick] = ENDED
		:: else
		fi;
#ifdef RESTORE
		if
		:: backup[worker].name[tick] == name_ -> backup[worker].name[tick] = ENDED
		:: else
		fi
#endif
	}
	for (tick : 0 .. CALLS-1) {
		if
		:: request[tick].by == name_ && request[tick].sender % WORKERS == worker -> request[tick].by = ENDED
		:: else
		fi
	}
}

#endif

/* A process waits no more, and remembers nothing of its attempt. */
inline end_attempt(index) {
#ifndef PLAIN
	if
	:: lease[index].call != NONE ->
		if
		:: record[(index) % WORKERS].nonce == lease[index].call ->
			record[(index) % WORKERS].nonce = NONE
		:: else
		fi;
		if
		:: request[index].rev != NONE && request[index].until < LOWEST((index) % WORKERS) ->
			lowered[(index) % WORKERS] = request[index].until
		:: else
		fi;
		forget_request(index)
	:: else
	fi;
#endif
	lease[index].call = NONE;
	lease[index].from = 0;
	lease[index].newfloor = 0;
	lease[index].success = false;
#ifdef HISTORY
	lease[index].newsince = 0;
#endif
	lease[index].newrev = NONE
}

/* A process remembers nothing of its last grant, except that it minted. */
inline end_lease(index) {
	lease[index].rev = NONE;
	lease[index].until = 0;
	lease[index].end = 0;
#ifdef HISTORY
	lease[index].since = 0;
#endif
	lease[index].floor = 0
}

/* All that relies on the present revision of a worker's record can be forgotten. */
inline forget_revision(worker) {
#ifndef PLAIN
	for (proc : 0 .. PROCS-1) {
		pair = proc*WORKERS + worker;
		end_lease(pair);
		if
		:: lease[pair].success -> lease[pair].newrev = NONE; request[pair].rev = NONE
		:: else -> end_attempt(pair)
		fi
	}
	forget_request(PAIRS + worker);
	lowered[worker] = NONE
#else
	skip
#endif
}

/* The store has a new version of a worker's record. */
inline write(worker, until_, nonce_) {
#ifdef PLAIN
	revs[worker]++;
	record[worker].rev = revs[worker] + 1;
#endif
#ifdef RESTORE
	highest[worker] = (until_ > highest[worker] -> until_ : highest[worker]);
#endif
	record[worker].until = until_;
	record[worker].nonce = nonce_
}

/*
 * A process may mint in [from, until) from now on, for ever: it may be paused, and its
 * clock may say anything, so that it may mint each of these ticks, at any time. For that
 * reason there is no step in which it does so: as soon as it may, the tick is its own.
 */
inline grant(from_, until_) {
	printf("process %d may mint in [%d, %d) of worker %d\n", _pid, from_, until_, w);
	for (tick : 0 .. until_ - 1) {
		if
		:: tick >= from_ || bridging ->
			assert(owner[w*TICKS + tick] == NONE || owner[w*TICKS + tick] == _pid+1);
			owner[w*TICKS + tick] = OWNER(_pid)
		:: else
		fi;
		if
		:: owner[w*TICKS + tick] == OWNER(_pid) -> bridging = BRIDGES_GAPS
		:: else
		fi
	}
}

#define ME	lease[_pid*WORKERS + w]
#define ASKED	request[ME.call - 1]

/* Before it asks, a process reads the record, or, if it is the holder, it knows enough. */
#define MAY_READ ((record[w].rev != NONE || FIRST_USE) && record[w].until < TICKS)
#define MAY_KNOW (ME.rev != NONE && ME.until < TICKS)

/* A process knows that its attempt has succeeded, with this revision. */
inline adopt(rev_) {
	grant(ME.from, ASKED.until);
	if
	:: rev_ != NONE ->
		ME.rev = rev_;
		ME.until = ASKED.until;
		ME.end = ASKED.until;
#ifdef HISTORY
		ME.since = ME.newsince;
		check_names(w);
#endif
		ME.floor = ME.newfloor
	:: else	/* an old revision, forgotten */
	fi;
	end_attempt(_pid*WORKERS + w)
}

/* A process sends a request. */
inline send(index, sender_, rev_, until_, nonce_) {
	request[index].sender = sender_;
	request[index].rev = rev_;
	request[index].until = until_;
	request[index].nonce = nonce_;
	COUNT_SEND
}

/*
 * A process, all incarnations of it, one after the other. A crash ends one, and so does
 * giving back, for that worker: a process that leases again what it gave back knows as
 * little of before as a new one.
 */
active [PROCS] proctype process()	/* the first, so that _pid counts from 0 */
{
	byte w, rev, from, until, floor;

	do
	:: atomic {
		any(w, 0, WORKERS-1);
		if

		/*
		 * Acquire or renew. By its clock, which says anything, a process decides that a
		 * worker is free, when its interval is to begin, and when it is to end.
		 */
		:: MAY_SEND && IN_ORDER(_pid, w) && ME.call == NONE && (MAY_READ || MAY_KNOW) ->
			if
			:: MAY_READ -> rev = record[w].rev; from = record[w].until
			:: MAY_KNOW -> rev = ME.rev; from = ME.until
			fi;
			floor = (rev == ME.rev -> ME.floor : from);
			any(from, EARLIEST(from), TICKS-1);
			any(until, from + 1, TICKS);
			d_step {
				printf("process %d asks for [%d, %d) of worker %d, at revision %d\n",
					_pid, from, until, w, rev);
				BEGIN(_pid, w);
				if
				:: MINTS_EARLY -> grant(from, until)
				:: else
				fi;
				ME.from = from;
#ifdef HISTORY
				ME.newsince = (RENEWS(rev) && ME.since < from -> ME.since : from);
				request[ASK_CALL].by = OWNER(_pid);
				request[ASK_CALL].since = ME.newsince;
#endif
				ME.newfloor = floor;
				ME.call = ASK_CALL + 1;
				send(ASK_CALL, _pid*WORKERS + w, rev, until, NONCE(ME.call));
				end_step()
			}

		/* The store says that its attempt has succeeded. */
		:: ME.success ->
			d_step {
				printf("process %d is told of its success\n", _pid);
				adopt(ME.newrev);
				end_step()
			}

		/*
		 * The store says that there is a conflict, or the process loses patience: both
		 * lead to the same step, which may happen at any time. It reads the record.
		 */
		:: ME.call != NONE ->
			d_step {
				printf("process %d reads worker %d\n", _pid, w);
				if
				:: STORED(ASKED, w) -> adopt(record[w].rev)
				:: else -> end_attempt(_pid*WORKERS + w)
				fi;
				end_step()
			}

		/*
		 * Withdraw from its generator what that has not minted, of times that turn out to be
		 * ahead of the clock. The record stays as it is, until the process asks for times from
		 * there on, by its own last revision: then the record's end may become lower.
		 */
		:: ME.rev != NONE && ME.until > WITHDRAW_TO(ME) ->
			any(until, WITHDRAW_TO(ME), ME.until - 1);
			d_step {
				printf("process %d withdraws [%d, %d) of worker %d\n", _pid, until, ME.until, w);
				for (tick : 0 .. ME.until - 1) {
					if
					:: WITHDRAWS && tick >= until && owner[w*TICKS + tick] == OWNER(_pid) ->
						owner[w*TICKS + tick] = NONE
					:: else
					fi
				}
				ME.until = until;
				end_step()
			}

		/*
		 * Give back what it has not minted, or (if until stays as it is) release. It may
		 * have minted anything that it was granted, up to any tick.
		 */
		:: MAY_SEND && ME.rev != NONE ->
			any(until, GIVE_BACK_TO(ME), ME.end);
			d_step {
				printf("process %d gives back [%d, %d) of worker %d, at revision %d\n",
					_pid, until, ME.end, w, GIVE_BACK_REV(ME, w));
				if
				:: SEALED ->
					for (tick : 0 .. ME.end - 1) {
						if
						:: owner[w*TICKS + tick] == OWNER(_pid) ->
							owner[w*TICKS + tick] = (tick < until -> ENDED : NONE)
						:: else
						fi
					}
				:: else
				fi;
				end_attempt(_pid*WORKERS + w);
#ifdef HISTORY
				end_name(w, OWNER(_pid));
				request[GIVE_BACK_CALL].by = NONE;
				request[GIVE_BACK_CALL].since = ME.since;
#endif
#ifndef PLAIN
				/* Only the holder knows the revision, and it does so once. */
				assert(request[GIVE_BACK_CALL].rev == NONE);
#endif
				send(GIVE_BACK_CALL, _pid*WORKERS + w, GIVE_BACK_REV(ME, w), until, NONE);
				end_lease(_pid*WORKERS + w);
				end_step()
			}

#ifdef MUTANT_HOST_NAME
		/* The record names its own host: it takes the rest of the interval for its own. */
		:: record[w].host == HOST(_pid) && record[w].until > 0 ->
			any(from, 0, record[w].until - 1);
			d_step {
				printf("process %d finds its host's name\n", _pid);
				grant(from, record[w].until);
				end_step()
			}
#endif

		/* Crash, with all its workers, and start again. */
		:: d_step {
				printf("process %d crashes and starts again\n", _pid);
				for (w : 0 .. WORKERS-1) {
#ifdef HISTORY
					end_name(w, OWNER(_pid));
#endif
					end_attempt(_pid*WORKERS + w);
					end_lease(_pid*WORKERS + w)
				}
				for (tick : 0 .. WORKERS*TICKS - 1) {
					if
					:: owner[tick] == OWNER(_pid) -> owner[tick] = ENDED
					:: else
					fi
				};
#ifdef MUTANT_SHARED_NONCE
				starts[_pid]++;
#endif
				end_step()
			}
		fi;
		w = 0;
		rev = NONE;
		from = 0;
		until = 0;
		floor = 0
	   }
	od
}

#define ARRIVES(i)	(IN_FLIGHT(i) && SWAPS(request[i], request[i].sender % WORKERS))

/* The store, and the network before it. Answers are lost by never being looked at. */
active proctype environment()
{
	byte w, index, until;

	do

	/*
	 * A request arrives, and the store does what it asks for. (If there is a conflict,
	 * nothing happens.)
	 */
	:: atomic {
		do
		:: index < CALLS && !ARRIVES(index) -> index++
		:: index < CALLS && ARRIVES(index) -> index++	/* this one does not */
		:: index < CALLS && ARRIVES(index) -> break
		:: index == CALLS -> break
		od;
		if
		:: index < CALLS ->
			d_step {
				sender = request[index].sender;
				w = sender % WORKERS;
				newuntil = NEW_UNTIL(request[index], w);
				newnonce = request[index].nonce;
				if
				:: lease[sender].call == index + 1 -> lease[sender].success = true
				:: else
				fi;
				forget_revision(w);
				write(w, newuntil, newnonce);
#ifdef HISTORY
				write_names(w, index);
#endif
#ifdef MUTANT_HOST_NAME
				record[w].host = (newnonce == NONE -> NONE : HOST(sender / WORKERS));
#endif
				printf("the store sets worker %d to until %d, revision %d, for process %d\n",
					w, newuntil, record[w].rev, sender / WORKERS);
				if
				:: lease[sender].call == index + 1 -> lease[sender].newrev = record[w].rev
				:: else
				fi;
				end_step()
			}
		:: else
		fi;
		w = 0;
		index = 0
	   }

#ifndef PLAIN
	/* The request of an abandoned attempt, or of a release, arrives. */
	:: atomic {
		any(w, 0, WORKERS-1);
		if
		:: record[w].rev != NONE ->
			until = LOWEST(w);
			any(until, until, TICKS);
			d_step {
				printf("the store sets worker %d to until %d, for an abandoned attempt\n", w, until);
				forget_revision(w);
				write(w, until, NONE);
				end_step()
			}
		:: else
		fi;
		w = 0;
		until = 0
	   }
#endif

	/* Somebody deletes a record, which stays so. That is no harm: nobody is granted more. */
	:: atomic {
		any(w, 0, WORKERS-1);
		if
		:: record[w].rev != NONE ->
			d_step {
				printf("worker %d is deleted\n", w);
				forget_revision(w);
				record[w].rev = NONE;
				record[w].until = 0;
				record[w].nonce = NONE;
#ifdef HISTORY
				for (tick : 0 .. TICKS-1) {
					record[w].name[tick] = NONE
				}
				record[w].since = 0;
#endif
				end_step()
			}
		:: else
		fi;
		w = 0
	   }

#ifdef RESTORE
	/* A backup is made ... */
	:: atomic {
		any(w, 0, WORKERS-1);
		if
		:: record[w].rev != NONE && !backup[w].used ->
			d_step {
				printf("worker %d is backed up: until %d, revision %d\n",
					w, record[w].until, record[w].rev);
				backup[w].until = record[w].until;
				backup[w].revs = revs[w];
#ifdef HISTORY
				for (tick : 0 .. TICKS-1) {
					backup[w].name[tick] = record[w].name[tick]
				}
				backup[w].since = record[w].since;
				tick = 0
#endif
			}
		:: else
		fi;
		w = 0
	   }
	/* ... and restored. */
	:: atomic {
		any(w, 0, WORKERS-1);
		if
		:: record[w].rev != NONE && !backup[w].used ->
			d_step {
				revs[w] = RESTORED_REVS(w);
				record[w].rev = revs[w] + 1;
				record[w].until = RESTORED_UNTIL(w);
				record[w].nonce = NONE;
#ifdef HISTORY
				for (tick : 0 .. TICKS-1) {
					record[w].name[tick] = (tick < backup[w].since || !DROPS_ENTRY ->
						backup[w].name[tick] : NONE);
					backup[w].name[tick] = NONE
				}
				record[w].since = TICKS;
				backup[w].since = 0;
				check_names(w);
				tick = 0;
#endif
				backup[w].until = 0;
				backup[w].revs = 0;
				backup[w].used = true;
				printf("worker %d is restored: until %d, revision %d\n",
					w, record[w].until, record[w].rev)
			}
		:: else
		fi;
		w = 0
	   }
#endif
	od
}
