// The debug console of the editor: a console of sdm whose lines come from evaluate.

package dap

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"

	godap "github.com/google/go-dap"

	"sdm/master/language"
	"sdm/master/session"
	"sdm/protocol/rank"
)

// Typed is what a console is run with (Config.Console). It ends with the context of its call.
type Typed struct {
	Session session.Session
	Ranks   rank.Set
	Joined  bool             // the session is another's
	Past    bool             // that of a hang file
	Welcome *session.Welcome // of a session of several front ends; nil: it is not
	AtEnd   string           // what happens to ranks that live when the session ends, as session.Welcome has it
	Lines   *Lines
	Out     io.Writer // receives answers and errors
}

// Lines are the lines that are typed into the debug console. Next is for the console, one goroutine.
type Lines struct {
	in     chan string // has room for the one line that is not answered
	out    *written
	closed chan struct{}
	once   sync.Once
	asked  bool
	said   chan<- answerText

	interrupts chan struct{}
}

// Interrupts receives the wish to end what the console does.
func (l *Lines) Interrupts() <-chan struct{} { return l.interrupts }

// answerText is what the console has written to a line, and what it asks for next if that is no command.
type answerText struct{ text, prompt string }

// ReadLine returns the next line; its call tells that the answer to the one before is complete. At the end it returns
// io.EOF.
func (l *Lines) ReadLine(prompt string) (string, error) {
	if l.asked {
		l.said <- answerText{l.out.take(), prompt}
	}
	l.asked = true
	select {
	case line := <-l.in:
		return line, nil
	case <-l.closed:
		return "", io.EOF
	}
}

// Complete does nothing: completions are a request of the editor.
func (l *Lines) Complete(func(string) ([]string, int)) {}

// Close ends a pending ReadLine.
func (l *Lines) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// written holds what the console has written since it was asked last.
type written struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// maxWritten bounds the answer to a line, in bytes: editors become slow with more.
const maxWritten = 1 << 20

// Write keeps what is written.
func (w *written) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.b.Len() < maxWritten {
		w.b.Write(b)
	}
	return len(b), nil
}

func (w *written) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.b.String()
	w.b.Reset()
	if len(s) >= maxWritten {
		s = strings.ToValidUTF8(s[:maxWritten], "") + "\n(more is not shown here; write it to a file, or ask fewer ranks)"
	}
	return s
}

// debugConsole is the state of the debug console. The zero value has none.
type debugConsole struct {
	run     func(Typed)
	session session.Session
	said    chan answerText
	over    chan error
	lines   *Lines
	queue   []typed // in order; the console has the first
}

// typed is a line of the debug console.
type typed struct {
	r    *request
	line string
}

// startConsole starts the console over the target's session.
func (a *adapter) startConsole() {
	c := &a.console
	if a.cfg.Console == nil || c.run == nil {
		return
	}
	c.said, c.over = make(chan answerText, 1), make(chan error, 1)
	out := &written{}
	c.lines = &Lines{
		in: make(chan string, 1), interrupts: make(chan struct{}, 1), closed: make(chan struct{}), out: out, said: c.said,
	}
	t := Typed{
		Session: c.session, Ranks: a.target.Ranks, Joined: a.target.Joined, Past: a.target.Past, Lines: c.lines, Out: out,
	}
	if s, ok := a.target.Session.(session.Shared); ok {
		w := s.Welcome()
		t.Welcome, t.AtEnd = &w, w.AtEnd
		w.Snapshot, w.Start = 0, nil
	}
	c.run(t)
	if a.pinned {
		a.typeFocus()
	}
}

// typedLine gives a line to the console; its answer is that of the request.
func (a *adapter) typedLine(r *request, line string) error {
	c := &a.console
	if c.lines == nil {
		return errors.New("there is no console here")
	}
	if strings.ContainsAny(line, "\n\r") {
		return errors.New("one line at a time")
	}
	c.queue = append(c.queue, typed{r, line})
	if len(c.queue) == 1 {
		c.lines.in <- line
	}
	return nil
}

// consoleSaid answers the first line, and gives the console the next one.
func (a *adapter) consoleSaid(t answerText) {
	c := &a.console
	if len(c.queue) == 0 {
		return
	}
	first := c.queue[0]
	c.queue = c.queue[1:]
	if t.prompt != "" && !strings.HasPrefix(t.prompt, "(sdm ") { // a question
		t.text = strings.TrimSpace(t.text + t.prompt)
	}
	first.r.answer(godap.EvaluateResponseBody{Result: trim(t.text)})
	a.adopt(first.line)
	if len(c.queue) > 0 {
		c.lines.in <- c.queue[0].line
	}
}

// adopt makes the focus of the console that of the adapter, after a line that may have changed it.
func (a *adapter) adopt(line string) {
	cmd, ok, err := language.Parse(line)
	if err == nil && ok && cmd.Name == language.Focus && cmd.Args.Set != "" {
		_ = a.call(session.Call{Command: "focus", Args: cmd.Args}, func(x *call) { // the console has said what is wrong
			a.focusOn(x.results())
		})
	}
}

// consoleOver takes the end of the console: by quit, by leave, or with the session.
func (a *adapter) consoleOver(err error) {
	c := &a.console
	for _, x := range c.queue {
		x.r.answer(godap.EvaluateResponseBody{Result: trim(c.lines.out.take())})
	}
	c.lines, c.queue = nil, nil
	switch {
	case a.phase == parted:
	case err == nil:
		a.terminated()
		a.part(quits)
	case errors.Is(err, ErrLeft):
		a.terminated()
		a.part(leaves)
	default:
		a.say("important", "the console has ended: "+err.Error())
	}
}

// ErrLeft is the error of Config.Console when the user has left the session.
var ErrLeft = errors.New("the session was left")
