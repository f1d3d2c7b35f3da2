// Completion of names that only gdb knows: functions, files, variables, members.

package console

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sdm/master/language"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// completeWait is how long Tab waits for gdb: not longer than is acceptable while typing. A later
// answer is used by the next Tab.
const completeWait = 400 * time.Millisecond

// gdbWait bounds gdb's own search.
const gdbWait = 10 * time.Second

// completions are requests of the goroutine that reads lines to the console's loop, which asks the
// gdb of one rank and keeps the answers until the next command.
type completions struct {
	asked chan completion
	// These are used by the loop only.
	known map[string][]string // by the line, in gdb's syntax
	open  bool                // gdb has been asked

	groups names // of rank sets
}

type completion struct {
	line   string // in gdb's syntax
	answer chan []string
}

func newCompletions() *completions {
	return &completions{asked: make(chan completion), known: map[string][]string{}}
}

// complete returns the candidates for the end of a line; see Lines.
func (q *completions) complete(line string) (candidates []string, replaces int) {
	own, replaces := language.Complete(line, q.groups.all())
	start := language.WordStart(line)
	if file, ok := sourced(line); ok {
		return files(file), len(file)
	}
	asked, ok := language.GDBLine(line)
	if !ok {
		return own, replaces
	}
	for _, whole := range q.ask(asked) {
		if more, ok := strings.CutPrefix(whole, asked); ok {
			own = append(own, line[start:]+more)
		}
	}
	slices.Sort(own)
	return slices.Compact(own), len(line) - start
}

// ask waits for the loop's answer, for a short time.
func (q *completions) ask(line string) []string {
	expiry := time.NewTimer(completeWait)
	defer expiry.Stop()
	answer := make(chan []string, 1)
	select {
	case q.asked <- completion{line, answer}:
	case <-expiry.C:
		return nil
	}
	select {
	case found := <-answer:
		return found
	case <-expiry.C:
		return nil
	}
}

// lookUp answers from the known completions, or asks the gdb of one stopped rank.
func (c *console) lookUp(q completion) {
	found, known := c.completions.find(q.line)
	stopped := c.states.In(session.Stopped)
	if some := stopped.Intersect(c.focus); !some.IsEmpty() {
		stopped = some
	}
	r, any := stopped.Min()
	if known || !any || c.completions.open || c.await.call != nil {
		q.answer <- found
		return
	}
	x := &call{quiet: true, then: func(x *call) {
		c.completions.open = false
		found := completed(x.groups)
		c.completions.known[q.line] = found
		q.answer <- found
	}}
	ask := session.Call{Command: "gdb", Ranks: rank.Of(r).String(), Wait: gdbWait, Args: protocol.Args{Text: "complete " + q.line}}
	if c.begin(x, ask) != nil {
		q.answer <- nil
		return
	}
	c.completions.open = true
}

// find returns the known completions of a line: its own, or the completions of a prefix of its last
// name, unless gdb has truncated them.
func (q *completions) find(line string) ([]string, bool) {
	for end := len(line); end > 0; end-- {
		if found, ok := q.known[line[:end]]; ok && (end == len(line) || len(found) < maxCompleted) {
			return slices.DeleteFunc(slices.Clone(found), func(s string) bool { return !strings.HasPrefix(s, line) }), true
		}
		if !isNameByte(line[end-1]) {
			break
		}
	}
	return nil, false
}

// maxCompleted is the limit of gdb (max-completions).
const maxCompleted = 200

func isNameByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}

// completed returns the lines of gdb's answer.
func completed(groups []protocol.Group) []string {
	var found []string
	for _, g := range groups {
		var body struct{ Text string }
		if g.Kind != protocol.KindResult || json.Unmarshal(g.Body, &body) != nil {
			continue
		}
		for line := range strings.Lines(body.Text) {
			if line = strings.TrimRight(line, "\n"); line != "" && !strings.Contains(line, " *** List may be truncated") {
				found = append(found, line)
			}
		}
	}
	return found
}

// sourced returns the prefix of a file name after source or save breakpoints.
func sourced(line string) (string, bool) {
	word, file, found := strings.Cut(strings.TrimLeft(line, " \t"), " ")
	w, err := language.Lookup(word)
	if err == nil && w.Name == language.Save {
		_, file, found = strings.Cut(strings.TrimLeft(file, " \t"), " ")
	}
	return strings.TrimLeft(file, " \t"), found && err == nil && (w.Name == language.Source || w.Name == language.Save)
}

// files returns the files with a prefix, directories with a slash.
func files(begin string) []string {
	dir, base := filepath.Split(begin)
	entries, err := os.ReadDir(filepath.Join(".", dir))
	if filepath.IsAbs(dir) {
		entries, err = os.ReadDir(dir)
	}
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), base) && (base != "" || !strings.HasPrefix(e.Name(), ".")) {
			name := dir + e.Name()
			if e.IsDir() {
				name += "/"
			}
			found = append(found, name)
		}
	}
	return found
}

// names are the names of rank sets, also used by the goroutine that reads lines.
type names struct {
	mu   sync.Mutex
	list []string
}

func (n *names) add(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, name)
}

func (n *names) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.list)
}
