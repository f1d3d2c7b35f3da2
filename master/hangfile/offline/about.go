// What a file is about, and the end of its output.

package offline

import (
	"strconv"
	"strings"

	"sdm/master/session"
	"sdm/protocol/rank"
)

// about answers info file: a line for each fact.
func (s *Session) about() (all []session.Event) {
	f := s.file
	say := func(ranks rank.Set, text string) {
		all = append(all, result(ranks, map[string]string{"text": text}))
	}
	why := "reason: " + string(f.Reason.Kind)
	if f.Reason.Text != "" {
		why += ", " + f.Reason.Text
	}
	say(rank.Set{}, "hang file of "+f.When.Format("2006-01-02 15:04:05 -0700")+", written by sdm "+f.Sdm)
	say(f.Reason.Ranks, why)
	if len(f.Job.Command) > 0 {
		say(rank.Set{}, "command: "+f.Job.Line())
	}
	var job []string
	for _, p := range [][2]string{{"job ", f.Job.ID}, {"launcher ", f.Job.Launcher}, {"started on ", f.Job.Host}, {"in ", f.Job.Cwd}} {
		if p[1] != "" {
			job = append(job, p[0]+p[1])
		}
	}
	job = append(job, plural(f.Ranks.Len(), "rank"))
	say(rank.Set{}, strings.Join(job, ", "))
	for _, v := range f.Versions {
		say(v.Ranks, v.Of+": "+v.Text)
	}
	for _, v := range f.Verdict {
		label := "so far: "
		if v.Certain {
			label = "certain: "
		}
		say(rank.Set{}, label+v.Text)
	}
	for _, v := range f.Values {
		say(rank.Set{}, "has the answers to: "+v.Line)
	}
	if n := len(f.Output.Events); n > 0 {
		say(rank.Set{}, "has "+plural(n, "piece")+" of output (info output)")
	}
	return all
}

// output answers info output: the pieces in their order.
func (s *Session) output(ranks rank.Set) (all []session.Event) {
	o := s.file.Output
	for _, d := range []struct {
		n    int64
		name string
	}{{o.DroppedStdout, "standard output"}, {o.DroppedStderr, "standard error"}} {
		if d.n > 0 {
			all = append(all, result(rank.Set{}, map[string]string{"text": strconv.FormatInt(d.n, 10) + " bytes of " + d.name + " before this are not in the file"}))
		}
	}
	for _, e := range o.Events {
		on := e.Group.Ranks.Intersect(ranks)
		if on.IsEmpty() && !e.Group.Ranks.IsEmpty() {
			continue
		}
		text := strings.ToValidUTF8(string(e.Group.Body), "\uFFFD")
		if e.From != "" {
			text = e.From + ": " + text
		}
		all = append(all, result(on, map[string]string{"text": text}))
	}
	return all
}
