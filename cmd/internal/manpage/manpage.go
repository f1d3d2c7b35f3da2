// Package manpage writes the manual pages of the programs: the texts of help and the flags in roff (groff_man(7)).
package manpage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Page is a manual page. It is made of what help shows.
type Page struct {
	Name    string // of the page: sdm-run
	Section int
	Brief   string // what Name is, in a line
	// Text is the text of help. Lines that begin with the command (sdm run) are the synopsis, those that begin with two
	// spaces stay as they are, and what follows "Exit status:" has a heading of its own.
	Text     string
	Sections []Section
	Foot     string // text that follows
	Also     []string
	Build    string // the version
	Date     string // of it, as 2026-11-29
}

// Section is a section of flags, or of text.
type Section struct {
	Title string
	Flags *pflag.FlagSet // nil: none
	Text  string
}

// Roff returns the page in roff.
func (p Page) Roff() string {
	var w writer
	fmt.Fprintf(&w.b, ".TH \"%s\" \"%d\" \"%s\" \"sdm %s\" \"sdm\"\n", escape(strings.ToUpper(p.Name)), p.Section, p.Date, escape(p.Build))
	w.macro("SH", "NAME")
	w.filled(escape(p.Name) + ` \- ` + escape(p.Brief))
	command := strings.ReplaceAll(p.Name, "-", " ")
	text := p.Text
	if synopsis, rest := cutSynopsis(text, command); synopsis != nil {
		text = rest
		w.macro("SH", "SYNOPSIS")
		w.macro("nf")
		for _, line := range synopsis {
			w.line(`\fB` + escape(command) + `\fP` + escape(strings.TrimPrefix(line, command)))
		}
		w.macro("fi")
	}
	if strings.TrimSpace(text) != "" {
		w.macro("SH", "DESCRIPTION")
		w.text(text)
	}
	heading := false
	for _, s := range p.Sections {
		if s.Flags == nil {
			w.macro("SH", strings.ToUpper(s.Title))
			w.text(s.Text)
			continue
		}
		if !heading {
			w.macro("SH", "OPTIONS")
			heading = true
		}
		w.macro("SS", s.Title)
		w.flags(s.Flags)
	}
	if strings.TrimSpace(p.Foot) != "" {
		if !strings.HasPrefix(strings.TrimSpace(p.Foot), exitStatus) {
			w.macro("SH", "ENVIRONMENT")
		}
		w.text(p.Foot)
	}
	if len(p.Also) > 0 {
		w.macro("SH", "SEE ALSO")
		var also []string
		for _, name := range p.Also {
			page, section, _ := strings.Cut(name, "(")
			also = append(also, `\fB`+escape(page)+`\fP(`+section)
		}
		w.filled(strings.Join(also, ", "))
	}
	return w.b.String()
}

// cutSynopsis parts the lines that begin with the command from a text.
func cutSynopsis(text, command string) (lines []string, rest string) {
	for {
		line, after, more := strings.Cut(text, "\n")
		if !more || line != command && !strings.HasPrefix(line, command+" ") {
			return lines, text
		}
		lines, text = append(lines, line), after
	}
}

// exitStatus begins the paragraph that tells the statuses.
const exitStatus = "Exit status: "

// writer collects lines of roff.
type writer struct{ b strings.Builder }

func (w *writer) line(text string) {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	w.b.WriteString(text + "\n")
}

func (w *writer) macro(name string, args ...string) {
	line := "." + name
	for _, arg := range args {
		line += ` "` + escape(arg) + `"`
	}
	w.b.WriteString(line + "\n")
}

// text writes paragraphs.
func (w *writer) text(text string) {
	begun := false // a paragraph of this heading is written
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		if rest, ok := strings.CutPrefix(paragraph, exitStatus); ok {
			w.macro("SH", "EXIT STATUS")
			paragraph, begun = rest, false
		}
		if begun {
			w.macro("PP")
		}
		begun = true
		w.paragraph(paragraph)
	}
}

// paragraph writes a paragraph, of which lines that begin with two spaces stay as they are.
func (w *writer) paragraph(text string) {
	lines := strings.Split(text, "\n")
	literal := func(line string) bool { return strings.HasPrefix(line, "  ") }
	for len(lines) > 0 {
		n := slices.IndexFunc(lines, func(line string) bool { return literal(line) != literal(lines[0]) })
		if n < 0 {
			n = len(lines)
		}
		if literal(lines[0]) {
			w.macro("nf")
			for _, line := range lines[:n] {
				w.line(escape(line))
			}
			w.macro("fi")
		} else {
			w.filled(escape(strings.Join(lines[:n], " ")))
		}
		lines = lines[n:]
	}
}

// maxLine is the length of lines of text, in bytes.
const maxLine = 78

// filled writes escaped text in lines of at most maxLine, if words are not longer.
func (w *writer) filled(text string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > maxLine {
			w.line(line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		w.line(line)
	}
}

// flags writes a list of flags.
func (w *writer) flags(set *pflag.FlagSet) {
	set.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden {
			return
		}
		value, about := pflag.UnquoteUsage(flag)
		head := `\fB\-\-` + escape(flag.Name) + `\fP`
		if flag.Shorthand != "" {
			head = `\fB\-` + flag.Shorthand + `\fP, ` + head
		}
		if value != "" {
			head += ` \fI` + escape(value) + `\fP`
		}
		w.macro("TP")
		w.line(head)
		if !isNothing(flag.DefValue) && !strings.Contains(about, "(default") {
			about += " (default " + flag.DefValue + ")"
		}
		w.filled(escape(about))
	})
}

// isNothing reports whether a default is not worth a word.
func isNothing(value string) bool {
	return slices.Contains([]string{"", "false", "0", "0s", "[]", "-1"}, value)
}

var escapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`, "…", "...")

func escape(text string) string { return escapes.Replace(text) }
