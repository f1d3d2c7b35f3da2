// The manual pages of sdm: sdm help --man PAGE. They say what help says.

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"sdm/cmd/internal/manpage"
	"sdm/cmd/internal/startup"
	"sdm/master/frontend/console"
	"sdm/master/language"
)

// pages are the names of the pages, as files are called.
func pages() []string {
	names := []string{"sdm.1", "sdm-commands.7", "sdm-sets.7"}
	for _, s := range subcommands {
		names = append(names, "sdm-"+s.name+".1")
	}
	return names
}

// man writes a page, or without a name the names of all.
func (a *app) man(args []string) console.Status {
	if len(args) == 0 {
		io.WriteString(a.out, strings.Join(pages(), "\n")+"\n")
		return console.StatusGood
	}
	p, err := a.page(args[0])
	if err != nil {
		return a.fail(console.StatusUsage, err)
	}
	io.WriteString(a.out, p.Roff())
	return console.StatusGood
}

// page returns a page.
func (a *app) page(name string) (manpage.Page, error) {
	if !slices.Contains(pages(), name) {
		return manpage.Page{}, fmt.Errorf("there is no manual page %q (sdm help --man lists them)", name)
	}
	p := manpage.Page{Section: 1, Build: startup.Build(), Date: startup.Date}
	p.Name, _, _ = strings.Cut(name, ".")
	switch name {
	case "sdm.1":
		p.Brief = "debug a parallel program as if it were one process"
		p.Text = "sdm SUBCOMMAND [flags] [ARGUMENT...]\n\n" + usage
		p.Also = []string{"gdb(1)"}
		for _, other := range pages()[1:] {
			page, section, _ := strings.Cut(other, ".")
			p.Also = append(p.Also, page+"("+section+")")
		}
	case "sdm-sets.7":
		p.Section, p.Brief, p.Also = 7, "rank sets of sdm", []string{"sdm(1)", "sdm-commands(7)"}
		p.Text, _ = language.HelpText("sets")
	case "sdm-commands.7":
		p.Section, p.Brief, p.Also = 7, "commands at the prompt of sdm", []string{"sdm(1)", "sdm-sets(7)", "gdb(1)"}
		p.Text, p.Sections = commandsPage()
	default:
		subcommand := strings.TrimPrefix(p.Name, "sdm-")
		s, _ := lookup(subcommand)
		f := s.make(a.env).flags()
		p.Brief, p.Text, p.Foot = briefs()[subcommand], f.head, f.foot
		for _, section := range f.sections {
			if section.flags.HasAvailableFlags() {
				p.Sections = append(p.Sections, manpage.Section{Title: section.title, Flags: section.flags})
			}
		}
		p.Also = []string{"sdm(1)", "sdm-commands(7)", "sdm-sets(7)"}
	}
	return p, nil
}

// commandsPage returns help about all commands, under its topics.
func commandsPage() (text string, sections []manpage.Section) {
	overview, _ := language.HelpText("")
	text, topics, _ := strings.Cut(overview, "\n\n")
	for topic := range strings.SplitSeq(topics, "\n\n") {
		title, rows, _ := strings.Cut(topic, "\n")
		s := manpage.Section{Title: title}
		for row := range strings.Lines(rows) {
			name, _, _ := strings.Cut(strings.TrimPrefix(row, "  "), "  ")
			name, _, _ = strings.Cut(name, " (")
			if about, err := language.HelpText(name); err == nil {
				s.Text += strings.ReplaceAll("  "+about, "\n", "\n  ") + "\n"
			}
		}
		if rows != "" {
			sections = append(sections, s)
		}
	}
	return text, sections
}
