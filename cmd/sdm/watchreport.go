// What sdm watch writes and does at a stall or a crash.

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sdm/cmd/internal/startup"
	"sdm/master/frontend/sentinel"
	"sdm/master/frontend/web"
	"sdm/master/hangfile"
	"sdm/master/language"
	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/userfile"
)

const (
	// alsoWait bounds all commands of --also together.
	alsoWait = time.Minute
	// execWait bounds the command of --exec.
	execWait = 5 * time.Minute
	// maxAlso bounds the bytes of the answers to --also.
	maxAlso = 8 << 20
	// maxFiles bounds the hang files that are written: a job may stall and go on again and again.
	maxFiles = 32
)

// stalled reports a stall.
func (w *watch) stalled(ctx context.Context, x *sentinel.Sight) {
	defer w.ears.forget()
	reason := hangfile.Reason{Kind: hangfile.Stall, Text: withoutText(w.o.stall, x)}
	if x.Asked > 0 {
		reason.Text = "no output for " + x.Asked.Round(time.Second/10).String()
	}
	if x.Asked == 0 && x.Last.Kind != "" {
		reason.Text += "; what was seen last: " + x.Last.Kind
		if !x.Last.Ranks.IsEmpty() {
			reason.Text += " of " + text.Ranks(x.Last.Ranks)
		}
	}
	f := w.fileOf(x, reason)
	f.Values = w.also(ctx)
	path, page := w.write(f)
	if said := w.watchdog.Left(x.Without); said != "" {
		w.app.remark("watch: " + said)
	}
	h := w.hold(ctx)
	w.execute(ctx, f, path, page, h)
	for _, what := range w.o.onStall {
		if what == stallStacks {
			w.showStacks(x)
		}
	}
	if h != nil && h.await(ctx, w.o.hold, w.remark) { // who has come has decided
		return
	}
	if w.kill != nil {
		w.remark("watch: the job is being ended (--on-stall kill)")
		w.said.ended = w.kill()
		w.remark("watch: " + w.said.ended)
	}
}

// isEnough reports whether all that is said of what was seen is certain.
func (w *watch) isEnough(x *sentinel.Sight) bool {
	f := w.fileOf(x, hangfile.Reason{})
	return !slices.ContainsFunc(f.Verdict, func(v hangfile.Finding) bool { return !v.Certain })
}

// withoutText says for how long there was no progress, and why that is longer than asked.
func withoutText(asked time.Duration, x *sentinel.Sight) string {
	said := "no progress for " + x.Without.Round(time.Second/10).String()
	if x.Delay > 0 && x.Without > asked*3/2 {
		said += fmt.Sprintf(" (%v asked, and longer since a sample takes %v)", asked, x.Delay.Round(time.Second/100))
	}
	return said
}

// failed reports a crash or an abort.
func (w *watch) failed(ctx context.Context, found *sentinel.Result, reason hangfile.Reason) {
	x := found.Sight
	if x == nil {
		x = &sentinel.Sight{At: time.Now(), States: hangfile.StatesOf(found.States), Ranks: found.States.All()}
		reason.Text += "; no stacks were taken before"
	} else {
		reason.Text += "; the stacks are those of " + time.Since(x.At).Round(time.Second/10).String() + " before"
	}
	f := w.fileOf(x, reason)
	f.Ranks = x.Ranks.Union(reason.Ranks)
	path, page := w.write(f)
	w.execute(ctx, f, path, page, nil)
}

// fileOf makes a hang file.
func (w *watch) fileOf(x *sentinel.Sight, reason hangfile.Reason) *hangfile.File {
	started := startedHere(w.commandLine())
	started.ID, started.Launcher = w.jobID(), launcherOf(w.o.target, w.commandLine())
	f := hangfile.New(x.At, startup.Build(), reason, started, x.Ranks)
	f.Stacks, f.Hosts, f.States = x.Stacks, x.Hosts, x.States
	f.Judge() // which adds the versions of MPI and gdb
	var system unix.Utsname
	if unix.Uname(&system) == nil {
		f.Versions = append(f.Versions, hangfile.Version{Of: "kernel of " + started.Host,
			Text: unix.ByteSliceToString(system.Sysname[:]) + " " + unix.ByteSliceToString(system.Release[:])})
	}
	f.Output = w.out.output()
	return f
}

// commandLine returns the words of the starter's line, or of the process that the user has named.
func (w *watch) commandLine() []string {
	if w.o.target == "" {
		return w.o.line
	}
	return lineOf(w.o.target)
}

// jobVariables are the variables in which resource managers name their job.
var jobVariables = []string{"SLURM_JOB_ID", "PBS_JOBID", "FLUX_JOB_ID", "LSB_JOBID", "JOB_ID", "COBALT_JOBID"}

// jobID returns the name of the job at its resource manager; "": it has none.
func (w *watch) jobID() string {
	if _, id, named := strings.Cut(w.o.target, ":"); named && !strings.HasPrefix(w.o.target, "pids:") &&
		!strings.HasPrefix(w.o.target, "match:") {
		return id
	}
	for _, name := range jobVariables {
		if id := w.o.lookup(name); id != "" && w.o.target == "" {
			return id
		}
	}
	return ""
}

// path returns the path of the file.
func (w *watch) path(at time.Time) string {
	within := ""
	if strings.HasSuffix(w.o.file, "/") || isDirectory(w.o.file) {
		within = strings.TrimRight(w.o.file, "/") + "/"
	} else if w.o.file != "" {
		return w.o.file
	}
	name := cmp.Or(w.jobID(), w.o.target, strconv.Itoa(os.Getpid()))
	clean := func(r rune) rune {
		if r == '.' || r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}
	name = strings.Map(clean, name)
	return within + "sdm-hang-" + name[:min(len(name), 64)] + "-" + at.Format("20060102-150405")
}

// isDirectory reports whether there is a directory of a name.
func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// write writes the hang file and its report, and says so. The paths are "" if they are not written.
func (w *watch) write(f *hangfile.File) (path, page string) {
	var err error
	name := w.path(f.When)
	if w.said.files == maxFiles {
		err = fmt.Errorf("%d hang files were written already", maxFiles)
	} else if dir := filepath.Dir(name); strings.HasSuffix(w.o.file, "/") {
		err = os.MkdirAll(dir, 0o777)
	}
	if err == nil {
		path, err = userfile.Create(name, w.o.mode, f.Write)
	}
	if err == nil {
		page, err = userfile.Create(path+".html", w.o.mode, func(to io.Writer) error { return web.WriteFile(to, f) })
	}
	w.remark(saidOf(f, path, page, err))
	w.said.add(f, path, page)
	return path, page
}

// saidOf returns the lines that tell of a hang file. What comes from the job or a file name begins none.
func saidOf(f *hangfile.File, path, page string, err error) string {
	lines := []string{fmt.Sprintf("watch: %s: %s", f.Reason.Kind, f.Reason.Text)}
	for _, x := range f.Verdict {
		lines = append(lines, x.String())
	}
	for _, name := range []string{path, page} {
		if name != "" {
			lines = append(lines, "written: "+name)
		}
	}
	if err != nil {
		lines = append(lines, "not written: "+err.Error())
	}
	for i := range lines {
		lines[i] = text.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

// execute executes the command of --exec. h is the session in which the job is held; nil: it is not.
func (w *watch) execute(ctx context.Context, f *hangfile.File, path, page string, h *heldJob) {
	if w.o.exec == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, execWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", w.o.exec)
	cmd.Env = append(os.Environ(), "SDM_HANG_FILE="+path, "SDM_HANG_REPORT="+page, "SDM_HANG_REASON="+string(f.Reason.Kind),
		"SDM_HANG_RANKS="+f.Reason.Ranks.String(), "SDM_HANG_TEXT="+text.Clean(f.Reason.Text))
	if h != nil {
		cmd.Env = append(cmd.Env, "SDM_HANG_SESSION="+h.id)
	}
	cmd.Stdout, cmd.Stderr = w.app.stdout, w.app.stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("it has not ended in %v", execWait)
		}
		w.remark(text.Clean(fmt.Sprintf("watch: --exec %s: %v", w.o.exec, err)))
	}
}

// showStacks writes the stacks to standard error.
func (w *watch) showStacks(x *sentinel.Sight) {
	writer := text.Writer{All: x.Ranks, Terminal: isTerminal(w.app.stderr)}
	out, _ := writer.Answers(text.Asked{Command: "stacks", Ranks: x.Ranks}, hangfile.Groups(x.Stacks))
	io.WriteString(w.app.stderr, out)
}

// also has gdb execute the commands of --also, in a process of its own: whatever happens to it, the watching goes on.
func (w *watch) also(ctx context.Context) (values []hangfile.Value) {
	if len(w.o.also) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, alsoWait)
	defer cancel()
	for _, line := range w.o.also {
		c, _, _ := language.Parse(line) // see checkOwn
		values = append(values, hangfile.Value{Line: line, Command: c.Do, Args: c.Args})
	}
	args := []string{"attach", "-b", "--format", "ndjson", "--whole-sets", "--no-rc", "--timeout", (alsoWait - 5*time.Second).String()}
	args = append(args, w.o.shared()...)
	for _, line := range w.o.also {
		args = append(args, "-e", line)
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", append(args, w.target)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	var out, trouble bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{to: &out, left: maxAlso}, &limited{to: &trouble, left: 4 << 10}
	err := cmd.Run()
	readValues(values, &out)
	said := strings.TrimSpace(trouble.String())
	if said == "" && err != nil {
		said = err.Error()
	}
	note := session.NewEvent(protocol.Group{Kind: protocol.KindNote,
		Body: canonical.JSON(protocol.Note{Text: cmp.Or(said, "no answer")})})
	for i := range values {
		if len(values[i].Answers) == 0 {
			values[i].Answers = []session.Event{note}
		}
	}
	return values
}

// readValues reads the events of a session and gives each command its answers. The commands are executed in order, and
// each ends with done.
func readValues(values []hangfile.Value, out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxAlso)
	for i := 0; lines.Scan() && i < len(values); {
		var e session.Event
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.ID == 0 || e.Command != values[i].Command {
			continue
		}
		if e.Done != nil {
			i++
			continue
		}
		e.ID = 0
		values[i].Answers = append(values[i].Answers, e)
	}
}

// limited passes on at most a number of bytes, and drops the rest.
type limited struct {
	to   io.Writer
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	n := min(len(b), l.left)
	l.left -= n
	_, err := l.to.Write(b[:n])
	return len(b), err
}
