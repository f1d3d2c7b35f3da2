// The process in the slot of a rank whose server is in another slot.

package local

import (
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"sdm/launch"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// StandIn runs in the slot of a rank whose node has its server in another slot.
type StandIn struct {
	Rank    rank.ID
	Program string // that the starter named; "": the request of the server names it
	Args    []string
	Env     []string // environment of the slot
	Forker  *Forker  // closed by Run
	Conn    *net.UnixConn
	// Ending delivers texts about the end that the starter has announced, Signals the signals that
	// it sends to the rank.
	Ending  <-chan string
	Signals <-chan syscall.Signal

	mu     sync.Mutex
	last   *Process       // the rank that was started last; nil: none was
	failed bool           // the rank could not be started
	all    sync.WaitGroup // for the goroutines of Run
}

// NotStarted is the exit status of a slot whose rank could not be started, as in a shell.
const NotStarted = 127

// endingTime is how long the server of the node may take to end the session when the starter ends
// the job; then the slot ends by itself.
const endingTime = 5 * time.Second

// Run carries out the requests of the server of the node, and returns when the session is over and
// the rank has ended. status is the status of the rank, as a shell gives it. If the server is lost,
// the ranks are killed.
//
// Goroutines: one that reads, one for each rank. Run waits for all of them.
func (s *StandIn) Run() (status int) {
	if err := send(s.Conn, message{Kind: "hello", Rank: s.Rank, Program: s.Program}); err != nil {
		s.Conn.Close() // then read fails
	}
	over := make(chan bool, 1) // whether the server has sent quit
	s.all.Go(func() { over <- s.read() })
	var late <-chan time.Time
	for {
		select {
		case sig := <-s.Signals:
			if p := s.rank(); p != nil {
				p.Signal(sig)
			}
		case text := <-s.Ending:
			send(s.Conn, message{Kind: "ending", Rank: s.Rank, Text: text})
			late = time.After(endingTime)
		case <-late:
			s.Conn.Close()
		case good := <-over:
			return s.leave(good, late != nil)
		}
	}
}

// leave ends the stand-in and returns the exit status of the slot. good reports that the server has
// sent quit, ending that the starter ends the job. After quit a detached rank runs on, and leave
// waits until it or the job ends; otherwise the rank is killed.
func (s *StandIn) leave(good, ending bool) int {
	p := s.rank()
	if good && !ending && p != nil {
		for running := true; running; {
			select {
			case <-p.Done():
				running = false
			case <-s.Ending:
				running = false
			case sig := <-s.Signals:
				p.Signal(sig)
			}
		}
	}
	s.Conn.Close()
	s.Forker.Close()
	s.all.Wait()
	switch {
	case p != nil:
		return p.Status()
	case s.failed:
		return NotStarted
	}
	return 0
}

func (s *StandIn) rank() *Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// read carries out requests of the server until the connection ends; it reports whether the server
// has sent quit.
func (s *StandIn) read() bool {
	buffer := make([]byte, maxMessage)
	for {
		m, files, err := receive(s.Conn, buffer)
		for _, f := range files {
			f.Close()
		}
		switch {
		case err != nil:
			return false
		case m.Kind == "quit":
			return true
		case m.Kind == "hold":
			s.hold(m)
		}
	}
}

// hold starts the rank and passes it to the server.
func (s *StandIn) hold(m message) {
	p, err := s.start(m)
	if err != nil {
		f, ok := err.(*protocol.Fault)
		if !ok {
			f = launchFault("", err, "")
		}
		send(s.Conn, message{Kind: "held", ID: m.ID, Rank: s.Rank, Fault: f})
		s.mu.Lock()
		s.failed = true
		s.mu.Unlock()
		return
	}
	s.mu.Lock()
	s.last = p
	s.mu.Unlock()
	reply := message{Kind: "held", ID: m.ID, Rank: s.Rank, PID: p.PID, Program: p.Program}
	var files []*os.File
	stdin, terminal := p.Stdin.(ttyInput)
	if terminal {
		reply.Streams, files = "t", append(files, stdin.File)
	}
	for _, stream := range []struct {
		letter string
		file   any
	}{{"i", p.Stdin}, {"o", p.Stdout}, {"e", p.Stderr}} {
		if f, ok := stream.file.(*os.File); ok && f != nil {
			reply.Streams += stream.letter
			files = append(files, f)
		}
	}
	if err := sendFiles(s.Conn, reply, files); err != nil {
		p.Kill() // the server is lost, which read reports
	}
	for _, f := range files {
		f.Close()
	}
	s.all.Go(func() {
		exit := p.Wait()
		send(s.Conn, message{Kind: "exit", Rank: s.Rank, PID: p.PID, Exit: &exit, Status: p.Status()})
	})
}

func (s *StandIn) start(m message) (*Process, error) {
	env, err := launch.Environ(s.Env, m.Env)
	if err != nil {
		return nil, err
	}
	spec := Spec{
		Rank: s.Rank, Program: s.Program, Args: s.Args, Cwd: m.Cwd, Env: env, Stdin: m.Stdin, Through: m.Through, TTY: m.TTY,
	}
	if s.Program == "" {
		spec.Program, spec.Args = m.Program, m.Args
	}
	return s.Forker.Hold(spec)
}

// sendFiles sends a packet with files. It uses SyscallConn because File.Fd would make them
// blocking.
func sendFiles(conn *net.UnixConn, m message, files []*os.File) error {
	fds := make([]int, 0, len(files))
	var with func(rest []*os.File) error
	with = func(rest []*os.File) error {
		if len(rest) == 0 {
			return send(conn, m, fds...)
		}
		raw, err := rest[0].SyscallConn()
		if err != nil {
			return err
		}
		var inner error
		if err := raw.Control(func(fd uintptr) {
			fds = append(fds, int(fd))
			inner = with(rest[1:])
		}); err != nil {
			return err
		}
		return inner
	}
	return with(files)
}
