// Package spill sorts fixed-width records that need not fit in memory.
//
// A [Sorter] keeps records in a chunk. A full chunk is sorted and written to a temporary file, a
// run, while the caller fills a second chunk. [Sorter.Each] merges the runs. The system removes temporary
// files when their process ends, so a killed process leaves none.
package spill

import (
	"context"
	"runtime"
	"slices"
)

// A Record is the words of a record, the most significant first. Records sort as numbers.
type Record interface {
	[2]uint64 | [4]uint64
}

// Config says how a Sorter works.
type Config struct {
	// Memory is the bytes of memory for records and buffers. Less than [LeastMemory] is LeastMemory.
	Memory int64

	// Dir is the directory of the temporary files; "" is [os.TempDir].
	Dir string
}

// LeastMemory is the least memory of a Sorter.
const LeastMemory = 16 << 10

// The parts of the memory, in sixteenths.
const (
	chunkPart  = 4 // of each of the two chunks
	bufferPart = 2 // of the buffers of files
)

// A Sorter sorts records. A Sorter is for one goroutine. Close must be called.
type Sorter[R Record] struct {
	c      Config
	size   int // of a chunk, in records
	fanIn  int // the most runs that are merged at once
	chunk  []R
	spare  []R         // the chunk that is not being filled; nil until the first is full
	behind chan error  // of the goroutine that sorts and writes the spare chunk; nil if there is none
	runs   [][]*run[R] // of each level; a run of level n+1 is merged from runs of level n
	count  int64
}

// New returns a Sorter.
func New[R Record](c Config) *Sorter[R] {
	c.Memory = max(c.Memory, LeastMemory)
	const leastBuffer, mostRuns = 32 << 10, 256
	return &Sorter[R]{c: c, size: int(c.Memory * chunkPart / 16 / width[R]()), fanIn: int(min(max(c.Memory*bufferPart/16/leastBuffer, 4), mostRuns))}
}

// Len returns the number of records.
func (s *Sorter[R]) Len() int64 { return s.count }

// Add adds a record.
func (s *Sorter[R]) Add(r R) error {
	if len(s.chunk) == cap(s.chunk) {
		if err := s.grow(); err != nil {
			return err
		}
	}
	s.chunk = append(s.chunk, r)
	s.count++
	return nil
}

// grow makes room in the chunk.
func (s *Sorter[R]) grow() error {
	const first = 1 << 10
	if n := cap(s.chunk); n < s.size {
		// The last step is to the whole size. The system gives memory only as the chunk fills.
		larger := 8 * n
		if larger = max(larger, first); 8*larger >= s.size {
			larger = s.size
		}
		s.chunk = append(make([]R, 0, min(larger, s.size)), s.chunk...)
		return nil
	}
	if err := s.settle(); err != nil {
		return err
	}
	full := s.chunk
	if s.spare == nil {
		s.spare = make([]R, 0, s.size)
	}
	s.chunk, s.spare = s.spare[:0], full
	s.behind = make(chan error, 1)
	go func(done chan<- error) { done <- s.spill(full) }(s.behind)
	return nil
}

// settle waits for the goroutine that writes, if any, and returns its error.
func (s *Sorter[R]) settle() error {
	if s.behind == nil {
		return nil
	}
	err := <-s.behind
	s.behind = nil
	return err
}

// spill sorts a chunk and writes the chunk as a run. Many runs of a level become one run of the level above.
func (s *Sorter[R]) spill(chunk []R) error {
	slices.SortFunc(chunk, compare[R])
	w, err := s.create()
	if err != nil {
		return err
	}
	if err := s.finish(w, 0, w.add(chunk)); err != nil {
		return err
	}
	for level := 0; len(s.runs[level]) >= s.fanIn; level++ {
		if err := s.lift(level); err != nil {
			return err
		}
	}
	return nil
}

// lift merges the runs of a level into one run of the level above.
func (s *Sorter[R]) lift(level int) error {
	w, err := s.create()
	if err != nil {
		return err
	}
	merged := s.merge(context.Background(), s.runs[level], nil, w.add)
	if err := s.finish(w, level+1, merged); err != nil {
		return err
	}
	closeRuns(s.runs[level])
	s.runs[level] = nil
	return nil
}

func (s *Sorter[R]) create() (*writer[R], error) {
	return create[R](s.c.Dir, int(min(s.c.Memory*bufferPart/16, 1<<20)))
}

// finish ends a run of a level, or removes the run after an error.
func (s *Sorter[R]) finish(w *writer[R], level int, err error) error {
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		w.run.Close()
		return err
	}
	for len(s.runs) <= level {
		s.runs = append(s.runs, nil)
	}
	s.runs[level] = append(s.runs[level], w.run)
	return nil
}

// end ends the adding of records, and returns the runs, few enough to be merged at once. The rest of the
// records is the chunk.
func (s *Sorter[R]) end() ([]*run[R], error) {
	if err := s.settle(); err != nil {
		return nil, err
	}
	slices.SortFunc(s.chunk, compare[R])
	if s.spare != nil {
		s.spare = nil
		runtime.GC() // the buffers of the merge take the place of the spare chunk
	}
	for level := 0; level < len(s.runs)-1; level++ { // the smallest runs first
		if total := len(slices.Concat(s.runs[level:]...)); total > s.fanIn && len(s.runs[level]) > 1 {
			if err := s.lift(level); err != nil {
				return nil, err
			}
		}
	}
	return slices.Concat(s.runs...), nil
}

// Each calls f with all records in order, a batch at a time. f runs while further records are merged, and
// must not keep the batch. An error of f, or the end of the context, ends Each. Add must not be called
// afterwards.
func (s *Sorter[R]) Each(ctx context.Context, f func(batch []R) error) error {
	runs, err := s.end()
	if err != nil {
		return err
	}
	if len(runs) > 0 {
		return s.pipeline(ctx, runs, f)
	}
	for batch := range slices.Chunk(s.chunk, batchSize) {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := f(batch); err != nil {
			return err
		}
	}
	return nil
}

// batchSize is the records of a batch.
const batchSize = 4096

// pipeline merges runs in a goroutine, and calls f with the batches.
func (s *Sorter[R]) pipeline(ctx context.Context, runs []*run[R], f func(batch []R) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	const ahead = 4 // batches
	full, empty := make(chan []R, ahead), make(chan []R, ahead)
	for range ahead {
		empty <- make([]R, 0, batchSize)
	}
	merged := make(chan error, 1)
	go func() {
		defer close(full)
		merged <- s.merge(ctx, runs, s.chunk, func(batch []R) error {
			select {
			case room := <-empty:
				full <- append(room[:0], batch...)
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	for batch := range full {
		if err := f(batch); err != nil {
			cancel()
			<-merged
			return err
		}
		empty <- batch
	}
	return <-merged
}

// Close removes the temporary files. Close may be called more than once, and at any time by the goroutine of
// the Sorter.
func (s *Sorter[R]) Close() error {
	s.settle() // the caller has the error, or does not want the records
	for _, level := range s.runs {
		closeRuns(level)
	}
	s.runs, s.chunk, s.spare = nil, nil, nil
	return nil
}
