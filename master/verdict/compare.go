package verdict

import (
	"slices"
	"strconv"
	"strings"

	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// asymmetric are the calls that some members leave before all have come.
var asymmetric = map[string]bool{
	"MPI_Bcast": true, "MPI_Reduce": true, "MPI_Gather": true, "MPI_Gatherv": true, "MPI_Scatter": true, "MPI_Scatterv": true,
	"MPI_Scan": true, "MPI_Exscan": true,
}

// compare finds what does not fit in the calls of a communicator: the functions, or what all members
// must give alike. While members are absent, a rank in an asymmetric call may be one call behind.
func (x *group) compare() {
	var names []string
	early := false
	for _, c := range x.calls {
		if !slices.Contains(names, c.Function) {
			names = append(names, c.Function)
		}
		early = early || asymmetric[c.Function]
	}
	if early && !x.absent.IsEmpty() {
		return
	}
	for _, name := range names { // what differs in equal functions is nearer to the error
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

// arguments tells what differs in the calls of a function that all members must give alike; "": nothing.
func (x *group) arguments(function string) string {
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

func number(n int) string {
	if n == wait.No {
		return ""
	}
	return strconv.Itoa(n)
}

// differ lists the values of a field if there are several: "0 by 1-3, 2 by 4". Values that are not
// known do not count.
func (x *group) differ(of func(c *wait.Call) string) string {
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

func (x *group) those(is func(c *wait.Call) bool) (ranks rank.Set) {
	for i := range x.calls {
		if is(&x.calls[i]) {
			ranks = ranks.Union(x.calls[i].Ranks)
		}
	}
	return ranks
}

// mismatches returns the communicators in which calls do not fit.
func (s *solver) mismatches() (found []Finding) {
	for i := range s.groups {
		x := &s.groups[i]
		if x.mismatch == "" {
			continue
		}
		f := Finding{Kind: Mismatch, Ranks: x.in, Certain: s.quiet(x.in)}
		f.Text = "on " + commName(x.comm) + ": " + x.mismatch
		if f.Certain {
			f.Text = "calls that do not fit " + f.Text
		}
		f.Text += s.behind([]int32{int32(s.size + i)}, x.in)
		found = append(found, f)
	}
	return found
}

// quiet reports whether what these ranks do is certain, and no message has reached them between the
// samples: else each may have gone on and come back to the same call.
func (s *solver) quiet(ranks rank.Set) bool {
	return s.settled(ranks) && !ranks.Intersects(s.g.Doubt())
}

// settled reports whether what these ranks do is certain.
func (s *solver) settled(ranks rank.Set) bool {
	return s.samples > 1 && !ranks.Intersects(s.g.Moved()) && !ranks.Intersects(s.unsure) && !ranks.Intersects(s.g.Cut())
}
