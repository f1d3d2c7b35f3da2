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

// patience bounds every wait for the master.
const patience = time.Minute

// Eclipse is the front end: it listens, takes one master, and writes as Java does. It is
// for one goroutine.
type Eclipse struct {
	Sender
	listener net.Listener
	conn     net.Conn
	in       *bufio.Reader
	decoder  ptp.Decoder
	Tasks    int          // of the job
	Heard    []ptp.Packet // all events so far
}

// Listen opens the port of an Eclipse that debugs so many tasks.
func Listen(tasks int) (*Eclipse, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	return &Eclipse{listener: l, Tasks: tasks}, err
}

// Dialled gives an Eclipse, and the master's end of the connection to it.
func Dialled(tasks int) (*Eclipse, net.Conn, error) {
	e, err := Listen(tasks)
	if err != nil {
		return nil, nil, err
	}
	conn, err := net.Dial("tcp", e.Addr())
	if err != nil {
		e.Close()
		return nil, nil, err
	}
	return e, conn, e.Accept()
}

// Addr is where the master must dial.
func (e *Eclipse) Addr() string { return e.listener.Addr().String() }

// Accept takes the master, and nobody after it.
func (e *Eclipse) Accept() error {
	defer e.listener.Close()
	if err := e.listener.(*net.TCPListener).SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	conn, err := e.listener.Accept()
	if err != nil {
		return err
	}
	e.Use(conn)
	return nil
}

// Use takes a connection that exists.
func (e *Eclipse) Use(conn net.Conn) { e.conn, e.in = conn, bufio.NewReader(conn) }

// Close hangs up.
func (e *Eclipse) Close() error {
	e.listener.Close()
	if e.conn == nil {
		return nil
	}
	return e.conn.Close()
}

// Set writes a set of tasks.
func (e *Eclipse) Set(ranks rank.Set) string { return ptp.SetText(ranks, e.Tasks) }

// Send sends a command; its arguments are as they are on the wire.
func (e *Eclipse) Send(code ptp.Code, args ...string) error {
	return e.Raw(e.Packet(ptp.Packet{ID: code, Args: args}))
}

// Raw sends bytes.
func (e *Eclipse) Raw(b []byte) error {
	if err := e.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := e.conn.Write(b)
	return err
}

// Next hears the next event; io.EOF is the end.
func (e *Eclipse) Next() (ptp.Packet, error) {
	if err := e.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
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
	e.Heard = append(e.Heard, p)
	return p, err
}

// Await hears events until all ranks of a set have been told the same code, and gives
// those of that code; those of others pass by. An ERROR is an error unless it is awaited.
func (e *Eclipse) Await(code ptp.Code, ranks rank.Set) ([]ptp.Packet, error) {
	var found []ptp.Packet
	for !ranks.IsEmpty() {
		p, err := e.Next()
		if err != nil {
			return found, fmt.Errorf("awaiting %d of %v: %w; heard %s", code, ranks, err, e.text())
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
	for _, p := range e.Heard {
		fmt.Fprintf(&b, "\n%v", p)
	}
	return b.String()
}
