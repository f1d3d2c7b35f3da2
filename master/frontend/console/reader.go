// Reading of command lines.

package console

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// reader reads Lines in its own goroutine, one line on each request. newReader starts the
// goroutine, which ends in close.
type reader struct {
	lines  Lines
	ask    chan string // the prompt; closed by close
	got    chan lineRead
	asked  bool
	closed chan struct{}
}

type lineRead struct {
	line string
	err  error
}

func newReader(l Lines) *reader {
	r := &reader{lines: l, ask: make(chan string), got: make(chan lineRead, 1), closed: make(chan struct{})}
	go r.loop()
	return r
}

func (r *reader) loop() {
	defer close(r.closed)
	for prompt := range r.ask {
		line, err := r.lines.ReadLine(prompt)
		r.got <- lineRead{line, err} // does not block: there is room for the requested one
	}
}

// want requests a line, unless one has been requested already.
func (r *reader) want(prompt string) {
	if !r.asked {
		r.asked = true
		r.ask <- prompt
	}
}

func (r *reader) close() {
	r.lines.Close()
	close(r.ask)
	<-r.closed
}

// Pipe returns the lines of an input that is not a terminal. Closing r must end a pending Read.
func Pipe(r io.ReadCloser) Lines { return &pipe{r, bufio.NewReader(r)} }

type pipe struct {
	closer io.Closer
	r      *bufio.Reader
}

// maxLine bounds one line, in bytes.
const maxLine = 1 << 20

func (p *pipe) ReadLine(string) (string, error) {
	var line strings.Builder
	for {
		piece, err := p.r.ReadSlice('\n')
		line.Write(piece)
		switch {
		case line.Len() > maxLine:
			return "", errors.New("a line of commands is longer than 1 MiB")
		case err == nil:
			return strings.TrimSuffix(line.String(), "\n"), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && line.Len() > 0:
			return line.String(), nil
		default:
			return "", err
		}
	}
}

func (p *pipe) Complete(func(string) ([]string, int)) {}

func (p *pipe) Close() error { return p.closer.Close() }
