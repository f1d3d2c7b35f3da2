// Calls of one communicator that do not fit.

package verdict

import (
	"slices"
	"strconv"
	"strings"

	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// synchronizing are the calls of MPI that no member leaves before all members have entered: each needs
// something of every other one. Of those that move data this holds only if there are some.
var synchronizing = map[string]bool{
	"MPI_Barrier": true, "MPI_Allreduce": true, "MPI_Allgather": true, "MPI_Alltoall": true, "MPI_Reduce_scatter_block": true,
	"MPI_Comm_dup": true, "MPI_Comm_dup_with_info": true, "MPI_Comm_create": true, "MPI_Comm_create_group": true,
	"MPI_Comm_split": true, "MPI_Comm_split_type": true, "MPI_Finalize": true,
}

// asymmetric are the calls of torch.distributed that some members may leave before all members have entered.
var asymmetric = map[string]bool{"broadcast": true, "reduce": true, "gather": true, "scatter": true, "monitored_barrier": true}

// isLoose reports whether members may leave a call before all members have entered.
func isLoose(c *wait.Call) bool {
	if !isMPI(c.Function) {
		return asymmetric[c.Function]
	}
	return !synchronizing[c.Function] || c.Bytes == 0
}

// compare sets mismatch if the calls in a communicator do not fit: the functions differ, or arguments that must be
// equal. While members are absent nothing is compared in a loose collective, since a rank may be in an earlier call
// than others.
func (x *collective) compare() {
	var names []string
	for _, c := range x.calls {
		if !slices.Contains(names, c.Function) {
			names = append(names, c.Function)
		}
	}
	if x.loose && !x.absent.IsEmpty() {
		return
	}
	for _, name := range names { // different arguments of the same function are closer to the error
		if x.mismatch = x.arguments(name); x.mismatch != "" {
			return
		}
	}
	if len(names) > 1 {
		var parts []string
		for _, name := range names {
			parts = append(parts, name+" by "+Ranks(x.those(func(c *wait.Call) bool { return c.Function == name })))
		}
		x.mismatch = strings.Join(parts, ", ")
	}
}

// arguments describes arguments of calls of a function that must be equal and differ; "": there are none.
func (x *collective) arguments(function string) string {
	for _, field := range []struct {
		what, unit string
		of         func(c *wait.Call) string
	}{
		{"roots", "", func(c *wait.Call) string { return number(c.Root) }},
		{"operations", "", func(c *wait.Call) string { return c.Op }},
		{"sizes", " (bytes)", func(c *wait.Call) string { return number(c.Bytes) }},
	} {
		text := x.differ(func(c *wait.Call) string {
			if c.Function != function {
				return ""
			}
			return field.of(c)
		})
		if text != "" {
			return field.what + " of " + function + ": " + text + field.unit
		}
	}
	return ""
}

// number formats a number; "": it is not known.
func number(n int) string {
	if n == wait.No {
		return ""
	}
	return strconv.Itoa(n)
}

// differ lists the values of a field if there are several: "0 by 1-3, 2 by 4". Values that are not
// known do not count.
func (x *collective) differ(of func(c *wait.Call) string) string {
	var values, parts []string
	for _, c := range x.calls {
		if v := of(&c); v != "" && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	if len(values) < 2 {
		return ""
	}
	for _, v := range values {
		parts = append(parts, v+" by "+Ranks(x.those(func(c *wait.Call) bool { return of(c) == v })))
	}
	return strings.Join(parts, ", ")
}

// those returns the ranks of the calls for which is holds.
func (x *collective) those(is func(c *wait.Call) bool) (ranks rank.Set) {
	for i := range x.calls {
		if is(&x.calls[i]) {
			ranks = ranks.Union(x.calls[i].Ranks)
		}
	}
	return ranks
}

// mismatches returns the findings of communicators in which calls do not fit.
func (s *solver) mismatches() (found []Finding) {
	for i := range s.collectives {
		x := &s.collectives[i]
		if x.mismatch == "" {
			continue
		}
		f := Finding{Kind: Mismatch, Ranks: x.in, Certain: s.quiet(x.in)}
		f.Text = "on " + commName(x.comm) + ": " + x.mismatch
		if f.Certain {
			f.Text = "calls that do not fit " + f.Text
		}
		f.Text += s.othersWaiting([]int32{int32(s.size + i)}, x.in)
		found = append(found, f)
	}
	return found
}

// quiet reports whether ranks are settled, and no message has reached them between the samples. If one has, they may
// have gone on and be in the same call again.
func (s *solver) quiet(ranks rank.Set) bool {
	return s.settled(ranks) && !ranks.Intersects(s.g.Doubt())
}

// settled reports whether several samples were compared, and what ranks wait for is known and has not changed.
func (s *solver) settled(ranks rank.Set) bool {
	return s.samples > 1 && !ranks.Intersects(s.g.Moved()) && !ranks.Intersects(s.unsure) &&
		!ranks.Intersects(s.g.Cut()) && !ranks.Intersects(s.g.Unheld())
}
