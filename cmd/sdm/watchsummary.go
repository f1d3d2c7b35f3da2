// The summary of sdm watch: a line for the log, and Markdown for the page of a CI job.

package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"time"

	"sdm/master/frontend/console"
	"sdm/master/hangfile"
	"sdm/master/text"
)

// maxSummary bounds the stacks in a summary, in bytes.
const maxSummary = 32 << 10

// findings are what sdm watch has found: the last of each kind counts.
type findings struct {
	began  time.Time
	files  int // hang files that were written
	kind   hangfile.ReasonKind
	reason string
	why    []string // lines of the verdict
	paths  []string // of the last file and its page
	stacks string
	ended  string // what was ended; "": nothing
}

// add adds a hang file.
func (s *findings) add(f *hangfile.File, path, page string) {
	s.kind, s.reason, s.why, s.paths = f.Reason.Kind, text.Clean(f.Reason.Text), nil, nil
	for _, x := range f.Verdict {
		s.why = append(s.why, text.Clean(x.String()))
	}
	for _, name := range []string{path, page} {
		if name != "" {
			s.paths = append(s.paths, text.Clean(name))
		}
	}
	if path != "" {
		s.files++
	}
	writer := text.Writer{All: f.Ranks}
	s.stacks, _ = writer.Answers(text.Asked{Command: "stacks", Ranks: f.Ranks}, hangfile.Groups(f.Stacks))
}

// line returns the summary in one line.
func (s *findings) line(status console.Status, now time.Time) string {
	parts := []string{fmt.Sprintf("%s after %v: %s", s.kind, now.Sub(s.began).Round(time.Second/10), s.reason)}
	parts = append(parts, s.why...)
	if s.ended != "" {
		parts = append(parts, s.ended)
	}
	if len(s.paths) > 0 {
		parts = append(parts, "sdm open "+s.paths[0])
	}
	return strings.Join(append(parts, fmt.Sprintf("status %d", status)), "; ")
}

// markdown returns the summary for a page. What comes from the job is in blocks of code only.
func (s *findings) markdown(line []string, status console.Status, now time.Time) string {
	took := now.Sub(s.began).Round(time.Second / 10)
	command := fenced(text.Clean(strings.Join(line, " ")))
	if s.kind == "" {
		return fmt.Sprintf("**sdm watch**: no stall and no crash; exit status %d after %v\n\n%s\n", status, took, command)
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "### sdm watch: %s; exit status %d after %v\n\n%s\n", s.kind, status, took, command)
	fmt.Fprintln(b, fenced(strings.Join(append([]string{s.reason}, s.why...), "\n")))
	if s.ended != "" {
		fmt.Fprintln(b, fenced(s.ended))
	}
	if len(s.paths) > 0 {
		fmt.Fprintf(b, "Files (`sdm open FILE` shows the first, a browser the second):\n\n%s\n", fenced(strings.Join(s.paths, "\n")))
	}
	if stacks := strings.TrimSpace(cut(s.stacks)); stacks != "" {
		fmt.Fprintf(b, "<details><summary>Stacks</summary>\n\n%s\n</details>\n\n", fenced(stacks))
	}
	return b.String()
}

// cut returns whole lines at the beginning of a text, at most maxSummary bytes.
func cut(text string) string {
	if len(text) <= maxSummary {
		return text
	}
	text = text[:maxSummary]
	return text[:strings.LastIndexByte(text, '\n')+1] + "… (the rest is in the file)"
}

// fenced returns a text as a block of code, between more backticks than it has itself.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence + "\n"
}

// summarize tells what was found in a job with a command line, and returns the exit status.
func (w *watch) summarize(line []string, status console.Status) console.Status {
	now := time.Now()
	if w.said.kind != "" {
		w.app.remark("watch: summary: " + w.said.line(status, now))
	}
	if w.o.summary == "" {
		return status
	}
	f, err := os.OpenFile(w.o.summary, os.O_WRONLY|os.O_APPEND|os.O_CREATE, cmp.Or(w.o.mode, 0o666))
	if err == nil {
		_, err = f.WriteString(w.said.markdown(line, status, now))
		if e := f.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		w.app.remark("watch: --summary: " + plainError(err))
	}
	return status
}
