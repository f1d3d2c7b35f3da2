package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// TestManualPages checks that each page has a line about what it is, and all flags that help has, and that groff finds
// nothing in it.
func TestManualPages(t *testing.T) {
	a := app{}
	groff, err := exec.LookPath("groff")
	for _, name := range pages() {
		p, wrong := a.page(name)
		if wrong != nil || p.Brief == "" || len(strings.TrimSpace(p.Text)) == 0 {
			t.Errorf("%s: %q, %v", name, p.Brief, wrong)
		}
		text := p.Roff()
		subcommand := strings.TrimSuffix(strings.TrimPrefix(name, "sdm-"), ".1")
		if s, known := lookup(subcommand); known {
			for line := range strings.Lines(s.make(nil).flags().usages()) {
				if _, flag, isFlag := strings.Cut(line, " --"); isFlag && strings.HasPrefix(strings.TrimSpace(line), "-") {
					flag, _, _ = strings.Cut(strings.TrimSpace(flag), " ")
					if !strings.Contains(text, `\fB\-\-`+strings.ReplaceAll(flag, "-", `\-`)+`\fP`) {
						t.Errorf("%s: no --%s", name, flag)
					}
				}
			}
		}
		if err != nil {
			continue
		}
		cmd := exec.Command(groff, "-ww", "-man", "-Tutf8", "-z")
		cmd.Stdin = strings.NewReader(text)
		if out, failed := cmd.CombinedOutput(); failed != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", name, failed, bytes.TrimSpace(out))
		}
	}
	if _, wrong := a.page("sdm-none.1"); wrong == nil {
		t.Error("there is a page of nothing")
	}
	if err != nil {
		t.Skip("no groff: what it finds was not asked")
	}
}

// TestBriefs checks that help has a line for each subcommand.
func TestBriefs(t *testing.T) {
	all := briefs()
	for _, s := range subcommands {
		if all[s.name] == "" {
			t.Errorf("sdm %s: no line in sdm help", s.name)
		}
	}
}

// TestFlagValues checks that each list of values is of a flag that some subcommand has.
func TestFlagValues(t *testing.T) {
	for name := range flagValues {
		found := false
		for _, s := range subcommands {
			found = found || s.make(nil).flags().Lookup(name) != nil
		}
		if !found {
			t.Errorf("no subcommand has --%s", name)
		}
	}
}
