package e2e

import (
	"flag"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"

	"sdm/cmd/internal/check/eclipse"
)

var allDialogs = flag.Bool("all-dialogs", false, "the dialog of Eclipse with 4 and 64 ranks, too")

// TestEclipseDialog has the dialog in testdata/eclipse.txt with different numbers of ranks that mpirun has
// started in PTP's own way: each command of the protocol, and each answer in as few events as may be.
func TestEclipseDialog(t *testing.T) {
	text, err := os.ReadFile("testdata/eclipse.txt")
	if err != nil {
		t.Fatal(err)
	}
	sizes := []int{1, 16}
	if *allDialogs {
		sizes = append(sizes, 4, 64)
	}
	for _, ranks := range sizes {
		t.Run(fmt.Sprint(ranks), func(t *testing.T) {
			d := eclipseDialog{t: t, job: ptpJob(t, ranks, program("work"))}
			for i, line := range strings.Split(string(text), "\n") {
				sign, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				if sign != "" && sign[0] != '#' {
					d.line = i + 1
					d.turn(sign, d.words(rest))
				}
			}
			if err := d.job.End(); err != nil {
				t.Error(err)
			}
			if err := d.job.Close(); err != nil || d.job.Errors.Len() > 0 {
				t.Errorf("the master: %v, and said %q", err, d.job.Errors.String())
			}
		})
	}
}

// eclipseDialog is a dialog with a job.
type eclipseDialog struct {
	t    *testing.T
	job  *eclipse.Job
	line int // of the file
}

// turn sends a command, or awaits an answer.
func (d *eclipseDialog) turn(sign string, words []string) {
	d.t.Helper()
	code, err := strconv.Atoi(words[0])
	if err != nil {
		d.t.Fatalf("line %d: %v", d.line, err)
	}
	if sign == ">" {
		err = d.job.Send(code, append([]string{d.job.All()}, words[1:]...)...)
	} else {
		var found []eclipse.Packet
		if found, err = d.job.Await(code, d.job.All()); err == nil {
			d.compare(found, words[1:], sign == "<<")
		}
	}
	if err != nil {
		d.t.Fatalf("line %d: %v", d.line, err)
	}
}

// maxStops bounds the events in which the stops of one step are told, on a machine under load.
const maxStops = 4

// compare compares events with the arguments that are expected.
func (d *eclipseDialog) compare(found []eclipse.Packet, want []string, each bool) {
	d.t.Helper()
	most := 1
	switch {
	case each:
		most = d.job.Size
	case found[0].Code == eclipse.Stopped:
		most = maxStops
	}
	if len(found) > most || each && len(found) < most {
		d.t.Errorf("line %d: %d events: %v", d.line, len(found), found)
	}
	for _, p := range found {
		for i, w := range want {
			if each && w == "RANK" {
				r := d.rankOf(p)
				w = fmt.Sprintf("%08X", r)
			}
			if ok, err := path.Match(strings.NewReplacer("[", `\[`, "/", "|").Replace(w), strings.ReplaceAll(p.Args[min(i+1, len(p.Args)-1)], "/", "|")); !ok || err != nil || len(p.Args) != len(want)+1 {
				d.t.Fatalf("line %d: heard %q, want %q (%v)", d.line, p.Args, want, err)
			}
		}
	}
}

// rankOf returns the rank of an event of one rank.
func (d *eclipseDialog) rankOf(p eclipse.Packet) int {
	for r := range d.job.Size {
		if p.Args[0] == d.job.Only(r) {
			return r
		}
	}
	d.t.Fatalf("line %d: %v is not of one rank", d.line, p)
	return 0
}

// words divides a line of the dialog into arguments.
func (d *eclipseDialog) words(text string) []string {
	d.t.Helper()
	var words []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		word, rest, _ := strings.Cut(text, " ")
		if quoted, err := strconv.QuotedPrefix(text); err == nil {
			rest = text[len(quoted):]
			word, _ = strconv.Unquote(quoted)
		}
		if line, ok := strings.CutPrefix(word, "LINE("); ok {
			word = strconv.Itoa(lineOf(d.t, "work.c", strings.TrimSuffix(line, ")")))
		}
		words, text = append(words, word), rest
	}
	return words
}
