// The text of docs/tested.md.

package main

import (
	"fmt"
	"slices"
	"strings"
)

// system is a root: its programs and the results of its tests.
type system struct {
	name     string
	versions []version
	tests    tally
	why      string // why there are no results
}

// version is the version (is) of a program (of).
type version struct{ of, is string }

// readVersions reads lines of a name, a tab and a version. The version of "system" is the name of
// the system.
func readVersions(text string) (name string, all []version) {
	for line := range strings.Lines(text) {
		of, is, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if of == "system" {
			name = is
			continue
		}
		all = append(all, version{of, is})
	}
	return name, all
}

// version returns the version of a program, or "".
func (s system) version(of string) string {
	if i := slices.IndexFunc(s.versions, func(v version) bool { return v.of == of }); i >= 0 {
		return s.versions[i].is
	}
	return ""
}

// notes are the texts below the table; cells refer to them by number.
type notes []string

// number returns the number of a text, which is added if it is new.
func (n *notes) number(text string) string {
	i := slices.Index(*n, text)
	if i < 0 {
		i = len(*n)
		*n = append(*n, text)
	}
	return fmt.Sprintf("(%d)", i+1)
}

// cell returns the result of the tests of a row in a system.
func cell(r row, s system, n *notes) string {
	if s.why != "" {
		return "not tried"
	}
	var count [failed + 1]int
	var marks []string
	for _, t := range s.tests.leaves() {
		if !r.tests.MatchString(t.name) {
			continue
		}
		count[t.outcome]++
		text := t.reason
		switch t.outcome {
		case passed:
			continue
		case failed:
			text = "fails: " + t.complaint()
		case waiting:
			continue // the function unreached lists them
		case unfinished:
			text = "had not ended when the time was over: " + t.name
		}
		if mark := n.number(text); !slices.Contains(marks, mark) {
			marks = append(marks, mark)
		}
	}
	if count[waiting] > 0 && len(marks)+count[passed] > 0 {
		marks = append(marks, n.number("not all of them were reached"))
	}
	return strings.TrimSpace(summary(count) + " " + strings.Join(marks, " "))
}

// complaint returns the name of a failed test and its first message.
func (t test) complaint() string { return strings.TrimSuffix(t.name+": "+t.reason, ": ") }

// summary returns the counts of test results as text.
func summary(count [failed + 1]int) string {
	all := count[waiting] + count[passed] + count[skipped] + count[failed] + count[unfinished]
	switch {
	case count[waiting] == all:
		return "not reached"
	case count[passed] == all:
		return "yes"
	case count[skipped] == all:
		return "no"
	}
	return fmt.Sprintf("%d of %d", count[passed], all)
}

// programs are the programs whose versions are shown, in this order.
var programs = []string{"gdb", "Open MPI", "MPICH", "Slurm", "Python", "gcc"}

// pythons tells the versions of CPython whose stacks were read. TestPythonStacks reads the
// interpreters of the systems and of gdbs; the others were read by hand with its flag -pythons.
const pythons = "\nStacks of Python: `make test` runs CPython 3.9 within gdb 10, and 3.11, 3.13 and 3.14 as programs and within gdbs. 3.8.18, 3.9.18, 3.10.13, 3.11.7, 3.12.1 and 3.13.0\n" +
	"were run by hand by the same test. 3.15 was not run: its offsets are those that 3.15.0 describes. All of them on x86-64; other machines were not tried.\n" +
	"\nStacks on arm64: only by stored registers and memory of a program that an emulator ran (`TestARM64`); no such machine was at hand.\n"

// page returns the text of docs/tested.md.
func page(systems []system) string {
	var b strings.Builder
	b.WriteString("# What was tested where\n\n" +
		"`make matrix` writes this page: the tests run in roots of several releases of Debian, each with its own gdb, MPIs, Slurm, Python and compilers.\n" +
		"\"yes\": all tests of the row ran and passed; \"3 of 4\": so many did, and the notes say why the others did not; \"no\": none can run there, for the reason in the note;\n" +
		"\"not reached\": the time was over; what was not reached is named below. Other systems were not tried.\n\n|")
	line := func(first string, each func(s system) string) {
		b.WriteString(" " + first + " |")
		for _, s := range systems {
			b.WriteString(" " + each(s) + " |")
		}
		b.WriteString("\n")
	}
	line("", func(s system) string { return s.name })
	b.WriteString("|" + strings.Repeat("---|", 1+len(systems)) + "\n")
	for _, p := range programs {
		b.WriteString("|")
		line(p, func(s system) string { return s.version(p) })
	}
	var n notes
	for _, r := range rows {
		b.WriteString("|")
		line(r.what, func(s system) string { return cell(r, s, &n) })
	}
	b.WriteString("|")
	line("all tests", func(s system) string {
		if s.why != "" {
			return "not tried"
		}
		return total(s.tests.leaves())
	})
	b.WriteString("\n")
	for _, s := range systems {
		if s.why != "" {
			fmt.Fprintf(&b, "%s was not tried: %s\n\n", s.name, s.why)
		}
	}
	for i, text := range n {
		fmt.Fprintf(&b, "%d. %s\n", i+1, escaped(text))
	}
	b.WriteString(pythons)
	others(&b, systems)
	second(&b, systems)
	unreached(&b, systems)
	return b.String()
}

// total counts the results of the tests of a system.
func total(tests []test) string {
	var count [failed + 1]int
	for _, t := range tests {
		count[t.outcome]++
	}
	text := fmt.Sprintf("%d passed, %d skipped, %d failed, %d not ended", count[passed], count[skipped], count[failed], count[unfinished])
	if count[waiting] > 0 {
		text += fmt.Sprintf(", %d not reached", count[waiting])
	}
	return text
}

// others lists the failed tests that belong to no row.
func others(b *strings.Builder, systems []system) {
	heading := "\nBeyond the table:\n\n"
	for _, s := range systems {
		for _, t := range s.tests.leaves() {
			if (t.outcome == failed || t.outcome == unfinished) &&
				!slices.ContainsFunc(rows, func(r row) bool { return r.tests.MatchString(t.name) }) {
				fmt.Fprintf(b, "%s* %s %s: %s\n", heading, s.name, map[outcome]string{failed: "fails", unfinished: "had not ended when the time was over"}[t.outcome],
					escaped(t.complaint()))
				heading = ""
			}
		}
	}
}

// second lists the tests of each system that passed when they were run once more.
func second(b *strings.Builder, systems []system) {
	heading := "\nFailed, and passed when they were run once more, alone:\n\n"
	for _, s := range systems {
		var names []string
		for _, t := range s.tests.leaves() {
			if t.again && t.outcome == passed {
				names = append(names, t.name)
			}
		}
		if len(names) > 0 {
			fmt.Fprintf(b, "%s* %s: %s\n", heading, s.name, markdown.Replace(strings.Join(names, ", ")))
			heading = ""
		}
	}
}

// unreached lists the tests of each system that were not reached.
func unreached(b *strings.Builder, systems []system) {
	heading := "\nNot reached when the time was over:\n\n"
	for _, s := range systems {
		if names := s.tests.unreached(); s.why == "" && len(names) > 0 {
			fmt.Fprintf(b, "%s* %s: %s\n", heading, s.name, markdown.Replace(strings.Join(names, ", ")))
			heading = ""
		}
	}
}

// markdown escapes the special characters of Markdown.
var markdown = strings.NewReplacer("|", `\|`, "_", `\_`, "*", `\*`, "<", "&lt;", "\n", " ")

// escaped returns a text as one line, escaped for Markdown, and truncated if it is long.
func escaped(text string) string {
	const most = 300 // bytes
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return markdown.Replace(text)
}
