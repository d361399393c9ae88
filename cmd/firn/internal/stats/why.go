package stats

import (
	"fmt"
	"math"

	"github.com/firn-id/firn/internal/shape"
)

// evennessOf returns the numbers of partitions, without a reason.
func evennessOf(ids []uint64) evennessReport {
	e := judge(ids)
	return evennessReport{Verdict: e.verdict, Chi: e.chi, Least: e.least, Most: e.most, Fullest: e.fullest, IDs: ids}
}

// amount says how many IDs the partitions have.
func (e evenness) amount() string {
	switch e.verdict {
	case tooFew:
		return fmt.Sprintf("A verdict takes %d IDs a partition, and there are %.2g.", atLeast, e.mean)
	case even:
		text := fmt.Sprintf("Each partition has between %s and %s of the average", percent(float64(e.least)/e.mean), percent(float64(e.most)/e.mean))
		if e.difference > slightly {
			text += ", no more than chance gives"
		}
		return text + "."
	}
	return fmt.Sprintf("Partition %d has %s, %s of the average, and the emptiest partition has %s.", e.fullest, plural(e.most, "ID"), percent(float64(e.most)/e.mean), number(e.least))
}

// whyLow explains the verdict on the low bits, which are those of some fields.
func (c *counter) whyLow(e evenness, fields []int) string {
	if e.verdict == even || e.verdict == tooFew {
		return e.amount()
	}
	at := c.blame(fields)
	f := c.shape.Fields[at]
	why := fmt.Sprintf("The low bits of the %s have few values.", f.Name)
	switch {
	case f.Random:
		why = fmt.Sprintf("The bits of the %s should be random: look for repeated IDs with firn verify.", f.Name)
	case at == c.shape.Sequence:
		why = fmt.Sprintf("The low bits are those of the %s, which begins anew in each tick: half of the ticks have at most %s.", f.Name, plural(c.fill.ids.atMost(50), "ID"))
	case at == c.shape.Worker:
		why = fmt.Sprintf("The low bits are those of the %s: %s made the IDs.", f.Name, plural(len(c.ticks.workers.ranking()), "worker"))
	}
	if judge(c.spread.hash).verdict == even {
		why += " Partition by a hash of the ID instead."
	}
	return e.amount() + " " + why
}

// whyHash explains the verdict on a hash.
func whyHash(e evenness) string {
	if e.verdict == even || e.verdict == tooFew {
		return e.amount()
	}
	return e.amount() + " A hash spreads different IDs evenly: look for repeated IDs with firn verify."
}

// blame returns the field whose part of the low bits is spread the least evenly.
func (c *counter) blame(fields []int) (worst int) {
	greatest := math.Inf(-1)
	for _, i := range fields {
		if skew := skewOf(c.spread.low, c.shape.Fields[i]); skew > greatest {
			worst, greatest = i, skew
		}
	}
	return worst
}

// skewOf returns how many times the average the most frequent value has, of the bits of a field in the numbers of
// partitions.
func skewOf(partitions []uint64, f shape.Field) float64 {
	values := make([]uint64, min(len(partitions)>>f.Shift, 1<<min(f.Bits, 16)))
	for i, ids := range partitions {
		values[i>>f.Shift&(len(values)-1)] += ids
	}
	e := judge(values)
	return float64(e.most) / e.mean
}

// percent writes a share, "97.4%".
func percent(share float64) string {
	switch p := 100 * share; {
	case p >= 1000:
		return number(int64(math.Round(p))) + "%"
	case p >= 1 || p == 0:
		return fmt.Sprintf("%.1f%%", p)
	case p >= 0.01:
		return fmt.Sprintf("%.2g%%", p)
	}
	return "<0.01%" // no more digits fit the column
}
