package e2e

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a program that a test has started, with its output.
//
// Goroutines: one reader for each of its streams and one that waits for it. All end with the
// process and those that have inherited its streams. The scene waits for them.
type process struct {
	t        *testing.T
	name     string
	cmd      *exec.Cmd
	in       io.WriteCloser
	out, err *lines
	ended    chan struct{} // closed when it has been reaped
}

// start starts a program of sdm, or another one, in the scene.
func (s *scene) start(name string, args ...string) *process {
	s.t.Helper()
	path, err := s.find(name)
	if err != nil {
		s.t.Fatal(err)
	}
	p := &process{t: s.t, name: name, cmd: exec.Command(path, args...), ended: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir = s.env, s.dir
	// In a process group of its own, so that Ctrl-C ends only the test.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.begin(p)
	s.processes = append(s.processes, p)
	return p
}

// begin starts the process with pipes for its streams. Package exec would wait for all processes
// that have inherited the pipes.
func (s *scene) begin(p *process) {
	s.t.Helper()
	theirIn, in := s.pipe()
	out, theirOut := s.pipe()
	err, theirErr := s.pipe()
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirIn, theirOut, theirErr
	p.in, p.out, p.err = in, newLines(), newLines()
	failed := p.cmd.Start()
	for _, f := range []*os.File{theirIn, theirOut, theirErr} {
		f.Close()
	}
	s.readers.Go(func() { p.out.read(out) })
	s.readers.Go(func() { p.err.read(err) })
	if failed != nil {
		close(p.ended)
		s.t.Fatal(failed)
	}
	s.readers.Go(func() {
		defer close(p.ended)
		p.cmd.Wait() // status reads the exit status later
	})
}

func (s *scene) pipe() (r, w *os.File) {
	s.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	return r, w
}

// signal sends a signal to this process only.
func (p *process) signal(sig syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatalf("%s: %v", p.name, err)
	}
}

// exits waits for the end of the process and checks its exit status.
func (p *process) exits(want int) {
	p.t.Helper()
	if got := p.status(patience); got != want {
		p.t.Errorf("%s ended with %d, want %d%s", p.name, got, want, p.said())
	}
}

// fails waits for the end of a starter and checks that its exit status is not 0.
func (p *process) fails() {
	p.t.Helper()
	if p.status(patience) == 0 {
		p.t.Errorf("%s thinks that all is well%s", p.name, p.said())
	}
}

// status waits for the end of the process and returns its exit code, or 128 and the signal as a
// shell does.
func (p *process) status(bound time.Duration) int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(bound):
		p.t.Fatalf("%s has not ended in %v%s", p.name, bound, p.said())
	}
	p.out.end(lastWords)
	p.err.end(lastWords)
	w := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if w.Signaled() {
		return 128 + int(w.Signal())
	}
	return w.ExitStatus()
}

// lastWords is how long the streams may stay open after the end of the process, since its children
// may have them, too.
const lastWords = time.Second

// running reports whether the process has not ended.
func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// said returns all output of the process, for the message of a failure.
func (p *process) said() string {
	return "\n-- its standard output:\n" + clipped(p.out.text()) + "-- its standard error:\n" + clipped(p.err.text())
}

// clipped keeps the end of a long text.
func clipped(text string) string {
	const most = 6000 // bytes
	if len(text) > most {
		return "…" + text[len(text)-most:]
	}
	return text
}

// after waits for a line of the stream that contains the words, and returns what follows them.
func (p *process) after(l *lines, words string) string {
	p.t.Helper()
	line, ok := l.await(0, patience, func(line string) bool { return strings.Contains(line, words) })
	if !ok {
		p.t.Fatalf("%s never said %q%s", p.name, words, p.said())
	}
	_, rest, _ := strings.Cut(line, words)
	return strings.TrimSpace(rest)
}

// hides checks that a process that has ended has written none of the words.
func (p *process) hides(words ...string) {
	p.t.Helper()
	all := p.out.text() + p.err.text()
	for _, w := range words {
		if strings.Contains(all, w) {
			p.t.Errorf("%s says %q%s", p.name, w, p.said())
		}
	}
}

// says checks that a process that has ended has written the words.
func (p *process) says(words ...string) {
	p.t.Helper()
	all := p.out.text() + p.err.text()
	for _, w := range words {
		if !strings.Contains(all, w) {
			p.t.Errorf("%s never said %q%s", p.name, w, p.said())
		}
	}
}

// lines are all lines that have come through a pipe.
type lines struct {
	mu   sync.Mutex
	all  []string
	over bool          // end of the stream
	more chan struct{} // closed and replaced with each line
}

func newLines() *lines { return &lines{more: make(chan struct{})} }

func (l *lines) read(f *os.File) {
	defer f.Close()
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadString('\n')
		l.add(line, err != nil)
		if err != nil {
			return
		}
	}
}

func (l *lines) add(line string, over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line != "" {
		l.all = append(l.all, line)
	}
	l.over = over
	close(l.more)
	l.more = make(chan struct{})
}

// next returns line i, counted from 0. It waits until the line comes, the stream ends, or late
// receives.
func (l *lines) next(i int, late <-chan time.Time) (line string, ok bool) {
	for {
		l.mu.Lock()
		n, over, more := len(l.all), l.over, l.more
		if i < n {
			line = l.all[i]
		}
		l.mu.Unlock()
		if i < n || over {
			return line, i < n
		}
		select {
		case <-more:
		case <-late:
			return "", false
		}
	}
}

// end waits for the end of the stream.
func (l *lines) end(bound time.Duration) {
	late := time.After(bound)
	for i := 0; ; i++ {
		if _, ok := l.next(i, late); !ok {
			return
		}
	}
}

// await returns the first line from number i on for which good returns true.
func (l *lines) await(i int, bound time.Duration, good func(string) bool) (line string, ok bool) {
	late := time.After(bound)
	for ; ; i++ {
		line, ok = l.next(i, late)
		if !ok || good(line) {
			return line, ok
		}
	}
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, "")
}
