// What a file is about, and the end of its output.

package offline

import (
	"strings"

	"sdm/master/hangfile"
	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol/rank"
)

// about answers info file: a line for each fact.
func (s *Session) about() (all []session.Event) {
	f := s.file
	say := func(ranks rank.Set, line string) {
		all = append(all, result(ranks, map[string]string{"text": text.Clean(line)}))
	}
	say(rank.Set{}, "hang file of "+f.When.Format(hangfile.TimeFormat)+", written by sdm "+f.Sdm)
	say(f.Reason.Ranks, "reason: "+f.Reason.String())
	if len(f.Job.Command) > 0 {
		say(rank.Set{}, "command: "+f.Job.Line())
	}
	var job []string
	for _, p := range [][2]string{{"job ", f.Job.ID}, {"launcher ", f.Job.Launcher}, {"started on ", f.Job.Host}, {"in ", f.Job.Cwd}} {
		if p[1] != "" {
			job = append(job, p[0]+p[1])
		}
	}
	job = append(job, text.Plural(f.Ranks.Len(), "rank"))
	say(rank.Set{}, strings.Join(job, ", "))
	for _, v := range f.Versions {
		say(v.Ranks, v.Of+": "+v.Text)
	}
	for _, v := range f.Verdict {
		say(rank.Set{}, v.String())
	}
	for _, v := range f.Values {
		say(rank.Set{}, "has the answers to: "+v.Line)
	}
	if n := len(f.Output.Events); n > 0 {
		say(rank.Set{}, "has "+text.Plural(n, "piece")+" of output (info output)")
	}
	return all
}

// output answers info output: the pieces in their order.
func (s *Session) output(ranks rank.Set) (all []session.Event) {
	o := s.file.Output
	for _, dropped := range o.Dropped() {
		all = append(all, result(rank.Set{}, map[string]string{"text": dropped + " before this are not in the file"}))
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
