// Package doctor examines a machine and reports what of sdm works there, what does not, and what to
// do.
package doctor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Grade tells how good a finding is.
type Grade string

// The grades, best first.
const (
	Good    Grade = "ok"
	Absent  Grade = "-"    // not installed, and not needed
	Warning Grade = "warn" // works with restrictions
	Bad     Grade = "bad"  // something that sdm needs does not work
)

// Finding is one row of the report.
type Finding struct {
	Host  string `json:"host,omitempty"` // "": this host
	Check string `json:"check"`
	Grade Grade  `json:"grade"`
	Found string `json:"found"`
	Hint  string `json:"hint,omitempty"` // what to do
}

// Machine describes what to examine. With Env alone it is this machine.
type Machine struct {
	Env         []string
	GDB         string   // "": gdb in PATH
	Server      string   // path of sdm-server; "": not found
	Hosts       []string // reached by RemoteShell
	RemoteShell string   // a command and its arguments; "": ssh
	// Hold tries to start a held program; nil: not checked.
	Hold func() error
	// Root is the directory that contains /proc, /sys and so on; "": /.
	Root string
	// Path finds a program; nil: exec.LookPath.
	Path func(name string) (string, error)
}

// patience is the time limit of each program that is run.
const patience = 10 * time.Second

// Examine makes all checks, in a fixed order, until ctx ends. It takes as long as the slowest host.
func (m Machine) Examine(ctx context.Context) []Finding {
	var all []Finding
	for _, check := range []func(context.Context) []Finding{
		m.platform, m.server, m.gdb, m.tracing, m.selinux, m.limits, m.logout, m.starters, m.slurm, m.flux, m.pals,
		m.kubernetes, m.pmix, m.secret, m.network, m.hosts,
	} {
		all = append(all, check(ctx)...)
	}
	return all
}

// Programs makes those checks that tell which programs of others are there and of which versions, until ctx ends.
func (m Machine) Programs(ctx context.Context) []Finding {
	gdb, _ := m.gdbProgram(ctx)
	all := []Finding{gdb}
	for _, check := range []func(context.Context) []Finding{m.starters, m.slurm, m.flux, m.pals, m.pmix} {
		all = append(all, check(ctx)...)
	}
	return all
}

// Worst returns the worst of the grades.
func Worst(all []Finding) Grade {
	worst := Good
	for _, f := range all {
		if f.Grade == Bad || f.Grade == Warning && worst != Bad {
			worst = f.Grade
		}
	}
	return worst
}

// Print writes the report. A hint follows below its row.
func Print(w io.Writer, all []Finding) error {
	width, names := 0, make([]string, len(all))
	for i, f := range all {
		names[i] = f.Check
		if f.Host != "" {
			names[i] = f.Host + ": " + f.Check
		}
		width = max(width, len(names[i]))
	}
	var b bytes.Buffer
	for i, f := range all {
		fmt.Fprintf(&b, "%-4s  %-*s  %s\n", f.Grade, width, names[i], f.Found)
		if f.Hint != "" {
			fmt.Fprintf(&b, "%-4s  %-*s  → %s\n", "", width, "", f.Hint)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// find finds a program by Path.
func (m Machine) find(name string) (string, error) {
	if m.Path != nil {
		return m.Path(name)
	}
	return exec.LookPath(name)
}

// read returns the contents of a small file; "" if it cannot be read.
func (m Machine) read(path string) string {
	f, err := os.Open(filepath.Join("/", m.Root, path))
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 1<<20))
	return strings.TrimSpace(string(b))
}

// ask runs a program and returns what it writes to standard output and standard error.
func (m Machine) ask(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.WaitDelay = m.Env, time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() == context.DeadlineExceeded {
		err = fmt.Errorf("no answer in %v", patience)
	}
	return strings.TrimSpace(string(out)), err
}

// lookup returns the value of a variable of Env; "": it is not set.
func (m Machine) lookup(name string) string {
	for _, e := range m.Env {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}

// firstLine returns the first line of a text.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}
