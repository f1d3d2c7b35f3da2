// Eclipse's end of a connection, for tests.

package ptptest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

// waitLimit is the limit of every wait for the master.
const waitLimit = time.Minute

// Eclipse is a front end: it listens, accepts one master, and encodes as Java does.
// It is for one goroutine.
type Eclipse struct {
	Sender
	listener net.Listener
	conn     net.Conn
	in       *bufio.Reader
	decoder  ptp.Decoder
	Tasks    int          // number of tasks of the job
	Received []ptp.Packet // all events received so far
}

// Listen opens the port of an Eclipse that debugs this number of tasks.
func Listen(tasks int) (*Eclipse, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	return &Eclipse{listener: l, Tasks: tasks}, err
}

// Piped returns an Eclipse and the master's end of the connection to it, in memory.
func Piped(tasks int) (*Eclipse, net.Conn) {
	ours, theirs := net.Pipe()
	e := &Eclipse{Tasks: tasks}
	e.Use(ours)
	return e, theirs
}

// Addr returns the address that the master must dial.
func (e *Eclipse) Addr() string { return e.listener.Addr().String() }

// Accept accepts the master, and no further connection.
func (e *Eclipse) Accept() error {
	defer e.listener.Close()
	if err := e.listener.(*net.TCPListener).SetDeadline(time.Now().Add(waitLimit)); err != nil {
		return err
	}
	conn, err := e.listener.Accept()
	if err != nil {
		return err
	}
	e.Use(conn)
	return nil
}

// Use uses an existing connection.
func (e *Eclipse) Use(conn net.Conn) { e.conn, e.in = conn, bufio.NewReader(conn) }

// Close closes the connection.
func (e *Eclipse) Close() error {
	if e.listener != nil {
		e.listener.Close()
	}
	if e.conn == nil {
		return nil
	}
	return e.conn.Close()
}

// Set encodes a set of tasks.
func (e *Eclipse) Set(ranks rank.Set) string { return ptp.SetText(ranks, e.Tasks) }

// Send sends a command with encoded arguments.
func (e *Eclipse) Send(code ptp.Code, args ...string) error {
	return e.Raw(e.Packet(ptp.Packet{ID: code, Args: args}))
}

// Raw sends bytes.
func (e *Eclipse) Raw(b []byte) error {
	if err := e.conn.SetWriteDeadline(time.Now().Add(waitLimit)); err != nil {
		return err
	}
	_, err := e.conn.Write(b)
	return err
}

// Next receives the next event; io.EOF is the end.
func (e *Eclipse) Next() (ptp.Packet, error) {
	if err := e.conn.SetReadDeadline(time.Now().Add(waitLimit)); err != nil {
		return ptp.Packet{}, err
	}
	var head [ptp.LengthSize]byte
	if _, err := io.ReadFull(e.in, head[:]); err != nil {
		return ptp.Packet{}, err
	}
	n, err := ptp.BodyLength(head)
	if err != nil {
		return ptp.Packet{}, err
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(e.in, body); err != nil {
		return ptp.Packet{}, err
	}
	p, err := e.decoder.Decode(body)
	if err == nil && len(p.Args) == 0 {
		err = fmt.Errorf("event %d without a set of tasks", p.ID)
	}
	e.Received = append(e.Received, p)
	return p, err
}

// Await receives events until all ranks of a set have got one with this code, and
// returns those with the code; others are skipped. An ERROR event is an error
// unless it is the code.
func (e *Eclipse) Await(code ptp.Code, ranks rank.Set) ([]ptp.Packet, error) {
	var found []ptp.Packet
	for !ranks.IsEmpty() {
		p, err := e.Next()
		if err != nil {
			return found, fmt.Errorf("awaiting %d of %v: %w; received %s", code, ranks, err, e.text())
		}
		told, _, err := ptp.ParseSet(p.Args[0])
		if err != nil {
			return found, err
		}
		switch {
		case p.ID == code && told.Intersects(ranks):
			found = append(found, p)
			ranks = ranks.Minus(told)
		case p.ID == ptp.EventError && told.Intersects(ranks):
			return found, fmt.Errorf("awaiting %d of %v: %v", code, ranks, p)
		}
	}
	return found, nil
}

func (e *Eclipse) text() string {
	var b strings.Builder
	for _, p := range e.Received {
		fmt.Fprintf(&b, "\n%v", p)
	}
	return b.String()
}
