// Plays a session to sdm and writes its events as text for each rank.

package oracle

// Sessions with sdm, rank by rank.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sdm/master/language"
	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Layout is the number of ranks of a session and the number of ranks that share a gdb.
type Layout struct {
	Ranks  int
	PerGDB int
}

// String returns "4/2", the form of -layout.
func (l Layout) String() string { return fmt.Sprintf("%d/%d", l.Ranks, l.PerGDB) }

// Told is the output of sdm: the blocks of each rank.
type Told struct {
	Ranks [][]Block
	// Ended is the first line that was not executed; the number of lines if all were.
	Ended  int
	Stderr string
	Status int
	Raw    string
}

// AskSDM returns the output of sdm for a session. ok is false if it did not end in time: within
// limit and the time that as many gdbs have taken.
func AskSDM(ctx context.Context, sdm string, s Session, l Layout, dir string,
	gdbs time.Duration) (told *Told, ok bool, err error) {
	script := filepath.Join(dir, fmt.Sprintf("%s-%d-%d-%d", s.Program.Name, s.Seed, l.Ranks, l.PerGDB))
	if err := os.WriteFile(script, []byte(sdmScript(s)), 0o600); err != nil {
		return nil, false, err
	}
	defer os.Remove(script)
	ctx, cancel := context.WithTimeout(ctx, limit+gdbs)
	defer cancel()
	cmd := exec.CommandContext(ctx, sdm, "run", "--no-rc", "-n", strconv.Itoa(l.Ranks), "--ranks-per-gdb", strconv.Itoa(l.PerGDB),
		"--stdin", "none", "-b", "--format", "ndjson", "-x", script, s.Program.Path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = environment
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err = cmd.Run()
	told, cutErr := cutSDM(out.Bytes(), s, l.Ranks)
	if cutErr != nil {
		return nil, true, fmt.Errorf("sdm (%v): %w\n%s%s", err, cutErr, out.String(), stderr.String())
	}
	told.Stderr, told.Status, told.Raw = stderr.String(), cmd.ProcessState.ExitCode(), out.String()
	return told, ctx.Err() == nil, nil
}

// sdmScript returns sdm's input. Breakpoint number 1 is used up, as by gdb's start.
func sdmScript(s Session) string {
	lines := []string{"set breakpoint pending on", "break main", "delete 1"}
	for i, l := range s.Lines {
		lines = append(lines, "echo "+mark(i, "")+`\n`)
		lines = append(lines, l.Typed()...)
	}
	return strings.Join(append(lines, "echo "+mark(len(s.Lines), "")+`\n`), "\n") + "\n"
}

// cutSDM splits the events at the marks.
func cutSDM(out []byte, s Session, ranks int) (*Told, error) {
	t := &teller{session: s, told: &Told{Ranks: make([][]Block, ranks), Ended: -1},
		calls: map[protocol.RequestID][]session.Event{}, line: -1}
	for r := range t.told.Ranks {
		t.told.Ranks[r] = make([]Block, len(s.Lines))
	}
	in := bufio.NewScanner(bytes.NewReader(out))
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var e session.Event
		if err := json.Unmarshal(in.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("%s: %w", in.Text(), err)
		}
		t.take(e)
	}
	t.told.Ended = t.line
	return t.told, in.Err()
}

// teller writes events as text for each rank separately, as sdm would if there were only this rank.
type teller struct {
	session Session
	told    *Told
	calls   map[protocol.RequestID][]session.Event // answers so far
	line    int                                    // the current one; -1 before the first
	writer  text.Writer
}

// take processes an event.
func (t *teller) take(e session.Event) {
	if n, ok := markIn(e); ok {
		t.line = n
		return
	}
	if t.line < 0 || t.line >= len(t.session.Lines) {
		return
	}
	switch {
	case e.Group.Kind.IsOutput():
	case e.Done != nil:
		for r := range t.told.Ranks {
			t.answer(r, e)
		}
		delete(t.calls, e.ID)
	case e.IsAnswer():
		t.calls[e.ID] = append(t.calls[e.ID], e)
	default:
		for r := range t.told.Ranks {
			t.event(r, e)
		}
	}
}

// answer writes the answers of a call for a rank.
func (t *teller) answer(r int, done session.Event) {
	asked := text.Asked{Command: done.Command, Ranks: rank.Of(rank.ID(r))}
	if cmd, ok, err := language.Parse(t.session.Lines[t.line].Text); ok && err == nil {
		asked.Label, asked.Full = cmd.Label, cmd.Args.Limit < 0
	}
	var groups []protocol.Group
	for _, e := range t.calls[done.ID] {
		if g, ok := e.Group.Narrow(asked.Ranks); ok {
			groups = append(groups, g)
		}
	}
	said, _ := t.writer.Answers(asked, groups)
	t.say(r, said)
}

// event writes an event for a rank.
func (t *teller) event(r int, e session.Event) {
	g, ok := e.Group.Narrow(rank.Of(rank.ID(r)))
	if e.Group.Ranks.IsEmpty() { // for all
		g, ok = e.Group, true
	}
	if ok {
		t.say(r, t.writer.Event(session.NewEvent(g)))
	}
}

// say adds text to the block of a rank, without the prefix that names the rank.
func (t *teller) say(r int, said string) {
	if said == "" {
		return
	}
	said = strings.TrimSuffix(said, "\n")
	prefix := "[" + strconv.Itoa(r) + "]"
	if after, ok := strings.CutPrefix(said, prefix); ok {
		said = strings.TrimLeft(after, " \n")
	}
	b := &t.told.Ranks[r][t.line]
	if b.Text != "" {
		b.Text += "\n"
	}
	b.Text += said
}

// markIn returns the line whose mark an event contains.
func markIn(e session.Event) (int, bool) {
	if e.Group.Kind != protocol.KindNote {
		return 0, false
	}
	var note protocol.Note
	if json.Unmarshal(e.Group.Body, &note) != nil {
		return 0, false
	}
	m := marks.FindStringSubmatch(note.Text + "\n")
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}
