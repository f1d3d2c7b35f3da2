// A gdb whose conversation is recorded.

package tape

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// recorder writes a tape. Each line is written before it is passed on, so that the order on the
// tape is a possible order of events.
type recorder struct {
	dir   tapeDir
	mu    sync.Mutex
	tape  *os.File // nil until it is known which tape to write
	early string   // lines before that
	names names
	err   error
}

func (r *recorder) write(l Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.Kind == Command {
		r.open(l.Text)
		r.names.learn(l.Text)
	}
	l.Text = r.names.hide(strings.TrimSpace(l.Text))
	r.early += l.String() + "\n"
	if r.tape == nil {
		return
	}
	_, err := r.tape.WriteString(r.early)
	r.early, r.err = "", errors.Join(r.err, err)
}

// open creates the tape at the first command from which its path follows.
func (r *recorder) open(command string) {
	if r.tape != nil {
		return
	}
	path, found, err := r.dir.tapeFor(command)
	if found {
		r.tape, err = os.Create(path)
	}
	r.err = errors.Join(r.err, err)
}

// pass copies lines from one stream to another, and records each line before.
func (r *recorder) pass(kind Kind, from io.Reader, to io.Writer) {
	in := bufio.NewReaderSize(from, 1<<16)
	for {
		text, err := in.ReadString('\n')
		if line := strings.TrimSuffix(text, "\n"); text != "" {
			r.write(Line{kind, line})
		}
		if _, e := io.WriteString(to, text); e != nil || err != nil {
			return
		}
	}
}

// record runs gdb between the standard streams of this process, until gdb ends.
//
// It starts three goroutines, one for each stream. The ones for gdb's output end with gdb; the one
// for the input ends with the input or with this process.
func record(s tapeDir, gdb string, args []string, n names) (code int, err error) {
	version, err := Version(gdb)
	if err != nil {
		return 1, err
	}
	r := &recorder{dir: s, names: n}
	r.write(Line{Remark, "gdb " + version})
	cmd := exec.Command(gdb, args...)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	errorOutput, err3 := cmd.StderrPipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		return 1, err
	}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	go func() {
		r.pass(Command, os.Stdin, in)
		in.Close()
	}()
	var streams sync.WaitGroup
	streams.Go(func() { r.pass(Output, out, os.Stdout) })
	streams.Go(func() { r.pass(Errors, errorOutput, os.Stderr) })
	streams.Wait()
	_ = cmd.Wait() // only the exit code matters
	code = cmd.ProcessState.ExitCode()
	r.write(Line{End, strconv.Itoa(code)})
	return code, r.err
}
