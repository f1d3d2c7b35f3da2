// Answers and events as text that is the same for all back ends.

package backendtest

import (
	"regexp"
	"slices"
	"strings"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// lines returns equal groups of several ranks as one line, in the order of ranks.
func lines(groups []protocol.Group) string {
	var all []string
	for _, g := range merged(groups) {
		all = append(all, "  "+line(g)+"\n")
	}
	return strings.Join(all, "")
}

// events returns the first event of each rank, then the second, …
func events(groups []protocol.Group) string {
	var turns [][]protocol.Group
	count := map[rank.ID]int{}
	for _, g := range groups {
		for r := range g.Ranks.All() {
			one, _ := g.Narrow(rank.Of(r))
			if count[r] == len(turns) {
				turns = append(turns, nil)
			}
			turns[count[r]] = append(turns[count[r]], one)
			count[r]++
		}
	}
	var b strings.Builder
	for _, t := range turns {
		b.WriteString(lines(t))
	}
	return b.String()
}

// merged merges equal groups.
func merged(groups []protocol.Group) []protocol.Group {
	var out []protocol.Group
	for _, g := range groups {
		g = plain(g)
		i := slices.IndexFunc(out, func(o protocol.Group) bool { return mergeable(o, g) })
		if i < 0 {
			out = append(out, g)
			continue
		}
		o := &out[i]
		o.Ranks = o.Ranks.Union(g.Ranks)
		for j := range o.Columns {
			o.Columns[j] = o.Columns[j].Merge(g.Columns[j])
		}
		if o.Stack != nil {
			o.Stack = o.Stack.Merge(g.Stack)
		}
	}
	slices.SortStableFunc(out, func(a, b protocol.Group) int {
		x, _ := a.Ranks.Min()
		y, _ := b.Ranks.Min()
		return int(x) - int(y)
	})
	return out
}

func mergeable(a, b protocol.Group) bool {
	return a.Kind == b.Kind && string(a.Body) == string(b.Body) && (a.Stack == nil) == (b.Stack == nil) &&
		slices.EqualFunc(a.Columns, b.Columns, func(c, d column.Column) bool { return c.Name == d.Name })
}

func line(g protocol.Group) string {
	text := g.Kind.String() + " [" + g.Ranks.String() + "] " + string(g.Body)
	for _, c := range g.Columns {
		text += " " + c.String()
	}
	if g.Stack != nil {
		text += " " + plainText(g.Stack.String())
	}
	return strings.TrimSpace(text)
}

// plain removes text that depends on machine, process or gdb: addresses, ids of processes and threads,
// directories.
func plain(g protocol.Group) protocol.Group {
	body := string(g.Body)
	if found := variablePlace.FindString(body); g.Kind == protocol.KindStopped && found != "" {
		return protocol.Group{Kind: g.Kind, Ranks: g.Ranks, Body: []byte(found + ",...}")}
	}
	out := protocol.Group{Kind: g.Kind, Ranks: g.Ranks, Body: []byte(plainText(body)), Stack: g.Stack}
	for _, c := range g.Columns {
		if c.Name == "others" || isOfSome(c) { // a simulated rank has one thread, no Python, and no such columns
			continue
		}
		d := column.Column{Name: c.Name}
		for _, v := range c.Values() {
			d = d.Merge(column.Of(c.Name, v.Ranks, plainText(v.Value), -1))
		}
		out.Columns = append(out.Columns, d)
	}
	return out
}

var (
	// variablePlace matches stops whose location depends on time or on how the program is linked.
	variablePlace = regexp.MustCompile(`^\{"reason":"(interrupted|entry)"`)
	folders       = regexp.MustCompile(`"fullname":"[^"]*",`)
	systems       = regexp.MustCompile(`(Thread 0x[0-9a-f]+ \(LWP [0-9]+\)|process [0-9]+)`)
	address       = regexp.MustCompile(`0x[0-9a-f]{5,}`)
)

// isOfOneVersion reports whether a group is a note about this version of gdb, which other versions
// do not cause.
func isOfOneVersion(g protocol.Group) bool {
	return g.Kind == protocol.KindNote && strings.Contains(string(g.Body), `"this gdb is version`)
}

// newWords replaces messages of older gdbs by what gdb 16 says.
var newWords = strings.NewReplacer(
	"No compiled code for line", "No line",
	"near the end of `n \u003e'", "near `'", "near the end of `n >'", "near `'",
)

func plainText(text string) string {
	text = folders.ReplaceAllString(text, "")
	text = newWords.Replace(text)
	text = systems.ReplaceAllString(text, "THREAD")
	return address.ReplaceAllString(text, "ADDRESS")
}
