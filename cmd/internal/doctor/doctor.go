// Package doctor looks at a machine and says what of sdm works there, what does
// not, and what to do.
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

// Grade says how good a finding is.
type Grade string

// Grades, best first.
const (
	Good    Grade = "ok"
	Absent  Grade = "-"    // not there, and not needed
	Warning Grade = "warn" // works, but not as well as it might
	Bad     Grade = "bad"  // something that sdm needs does not work
)

// Finding is one row of the table.
type Finding struct {
	Host  string `json:"host,omitempty"` // "" is this one
	Check string `json:"check"`
	Grade Grade  `json:"grade"`
	Found string `json:"found"`
	Hint  string `json:"hint,omitempty"` // what to do
}

// Machine is what is looked at. The zero value with an Env is this machine.
type Machine struct {
	Env         []string
	GDB         string   // "" is gdb in PATH
	Server      string   // path of sdm-server, "" if it was not found
	Hosts       []string // to reach by RemoteShell
	RemoteShell string   // a command and its arguments; "" is ssh
	// Hold tries to start a program and to hold it; nil is not tried.
	Hold func() error
	// Root is where /proc, /sys and the like are looked for; "" is /.
	Root string
	// Path finds a program; nil is exec.LookPath.
	Path func(name string) (string, error)
}

// patience bounds each program that is asked something.
const patience = 10 * time.Second

// Examine does all checks, in a fixed order. It takes as long as the slowest host,
// at most until ctx is over.
func (m Machine) Examine(ctx context.Context) []Finding {
	var all []Finding
	for _, check := range []func(context.Context) []Finding{
		m.platform, m.server, m.gdb, m.tracing, m.selinux, m.limits, m.starters, m.slurm, m.pmix, m.secret, m.network, m.hosts,
	} {
		all = append(all, check(ctx)...)
	}
	return all
}

// Worst is the worst of the grades.
func Worst(all []Finding) Grade {
	worst := Good
	for _, f := range all {
		if f.Grade == Bad || f.Grade == Warning && worst != Bad {
			worst = f.Grade
		}
	}
	return worst
}

// Print writes the table, with what to do below each row that wants it.
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

func (m Machine) find(name string) (string, error) {
	if m.Path != nil {
		return m.Path(name)
	}
	return exec.LookPath(name)
}

// read gives a small file, "" if it cannot be read.
func (m Machine) read(path string) string {
	f, err := os.Open(filepath.Join("/", m.Root, path))
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 1<<20))
	return strings.TrimSpace(string(b))
}

// ask runs a program and gives what it writes, both streams.
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

func (m Machine) lookup(name string) string {
	for _, e := range m.Env {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}

// firstLine is the first line of a text.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}
