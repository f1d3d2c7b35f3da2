// A gdb whose conversation is written down.

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

// recorder writes a tape. Each line is on it before it is handed on, so that the order on the tape
// is one in which things can have happened.
type recorder struct {
	shelf shelf
	mu    sync.Mutex
	tape  *os.File // nil before it is known which
	early string   // what came before that
	names names
	err   error
}

func (r *recorder) write(l Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.Kind == Command {
		r.open(l.Text)
		r.names.meet(l.Text)
	}
	l.Text = r.names.hide(strings.TrimSpace(l.Text))
	r.early += l.String() + "\n"
	if r.tape == nil {
		return
	}
	_, err := r.tape.WriteString(r.early)
	r.early, r.err = "", errors.Join(r.err, err)
}

// open begins the tape when a command tells which it is.
func (r *recorder) open(command string) {
	if r.tape != nil {
		return
	}
	path, found, err := r.shelf.tapeFor(command)
	if found {
		r.tape, err = os.Create(path)
	}
	r.err = errors.Join(r.err, err)
}

// pass hands on lines from one stream to another, and writes them down before.
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

// record runs gdb between our standard streams, until it ends.
//
// It starts three goroutines, one for each stream. Those of gdb's output end with gdb; that of our
// input with it or with us.
func record(s shelf, gdb string, args []string, n names) (code int, err error) {
	version, err := Version(gdb)
	if err != nil {
		return 1, err
	}
	r := &recorder{shelf: s, names: n}
	r.write(Line{Remark, "gdb " + version})
	cmd := exec.Command(gdb, args...)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	words, err3 := cmd.StderrPipe()
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
	streams.Go(func() { r.pass(Errors, words, os.Stderr) })
	streams.Wait()
	_ = cmd.Wait() // its exit code is what is of interest
	code = cmd.ProcessState.ExitCode()
	r.write(Line{End, strconv.Itoa(code)})
	return code, r.err
}
