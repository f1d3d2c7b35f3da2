// A job with servers and a master, started as PTP's scripts do, and Eclipse's end of its connection.

package eclipse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Numbers of commands and events (PTP's debug protocol).
const (
	Quit, Start, FuncBreak, Go, Step, Terminate, Suspend, Evaluate, GetType = 0, 1, 3, 10, 11, 12, 13, 16, 17

	Exited, BreakSet, Data, Type, Output, OK, Failed, Stopped = 102, 104, 106, 107, 110, 111, 112, 113
)

// Spec says how a job is started.
type Spec struct {
	Ranks int
	SDM   string   // path of sdm, which is master and servers
	Dir   string   // for the routing file; the working directory
	Env   []string // nil: this process's
	Port  int      // of the first server; the others listen on the next free ones
}

// Job is a job with its master, and the front end's end of the connection. Its methods are not
// called concurrently. It starts no goroutines.
type Job struct {
	Size    int
	Output  map[int]string // output of each rank so far
	Starter *exec.Cmd      // mpirun with the servers
	Master  *exec.Cmd      // sdm --master
	Errors  bytes.Buffer   // standard error of the master; complete after Close
	all     *big.Int       // ranks of the job
	conn    net.Conn
	in      *bufio.Reader
}

// patience bounds each wait for an event: the time that Eclipse waits for an answer.
const patience = 60 * time.Second

// Launch starts servers and master as PTP's script for Open MPI does, and waits for the master's
// connection: the script starts both, and writes the routing file from the starter's map.
func Launch(s Spec) (*Job, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	routes := filepath.Join(s.Dir, "routes_"+port)
	common := []string{"--port=" + port, "--host=127.0.0.1", "--debugger=gdb-mi", "--routing_file=" + routes}
	j := &Job{Size: s.Ranks, Output: map[int]string{}, all: new(big.Int)}
	j.all.Sub(new(big.Int).Lsh(big.NewInt(1), uint(s.Ranks)), big.NewInt(1))
	j.Starter = exec.Command("mpirun.openmpi", append([]string{"--oversubscribe", "-np", strconv.Itoa(s.Ranks), s.SDM}, common...)...)
	j.Master = exec.Command(s.SDM, append([]string{"--master"}, common...)...)
	j.Master.Stderr = &j.Errors
	for _, cmd := range []*exec.Cmd{j.Starter, j.Master} {
		cmd.Dir, cmd.Env = s.Dir, s.Env
		if err := cmd.Start(); err != nil {
			return nil, errors.Join(err, j.Close())
		}
	}
	if err := writeRoutes(routes, s); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	l.(*net.TCPListener).SetDeadline(time.Now().Add(patience))
	if j.conn, err = l.Accept(); err != nil {
		return nil, errors.Join(fmt.Errorf("the master does not connect: %w", err), j.Close())
	}
	j.in = bufio.NewReader(j.conn)
	return j, nil
}

// writeRoutes writes the routing file in place, as PTP's script for Open MPI does.
func writeRoutes(path string, s Spec) error {
	var b strings.Builder
	fmt.Fprintln(&b, s.Ranks)
	for i := range s.Ranks {
		fmt.Fprintln(&b, i, "127.0.0.1", s.Port+i)
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}

// All returns the text of the set of all ranks.
func (j *Job) All() string { return setText(j.Size, j.all) }

// Only returns the text of the set of one rank.
func (j *Job) Only(rank int) string {
	return setText(j.Size, new(big.Int).SetBit(new(big.Int), rank, 1))
}

// Send sends a command.
func (j *Job) Send(code int, args ...string) error {
	j.conn.SetWriteDeadline(time.Now().Add(patience)) // an error is one of Write
	_, err := j.conn.Write(encode(Packet{code, args}))
	return err
}

// Next returns the next event that is not output. io.EOF is the end.
func (j *Job) Next() (Packet, error) {
	for {
		j.conn.SetReadDeadline(time.Now().Add(patience)) // an error is one of Read
		p, err := decode(j.in)
		if err != nil {
			return p, err
		}
		if len(p.Args) == 0 {
			return p, fmt.Errorf("event %d is without a set of ranks", p.Code)
		}
		if p.Code != Output {
			return p, nil
		}
		if err := j.add(p); err != nil {
			return p, err
		}
	}
}

// add adds an output event to the text of its ranks.
func (j *Job) add(p Packet) error {
	if len(p.Args) != 2 {
		return fmt.Errorf("output %q: it has %d arguments, not 2", p.Args, len(p.Args))
	}
	ranks, err := ranksOf(p.Args[0])
	if err != nil {
		return fmt.Errorf("output %q: %w", p.Args, err)
	}
	for i := range j.Size {
		if ranks.Bit(i) == 1 {
			j.Output[i] += p.Args[1]
		}
	}
	return nil
}

// Await returns the events until each rank of a set has one. As in Eclipse, any event but output is
// an answer. An event with another code, or for a rank that has one already, is an error.
func (j *Job) Await(code int, set string) ([]Packet, error) {
	left, err := ranksOf(set)
	var found []Packet
	for err == nil && left.Sign() > 0 {
		var p Packet
		if p, err = j.Next(); err != nil {
			return found, fmt.Errorf("after %v: %w", found, err)
		}
		var named *big.Int
		if named, err = ranksOf(p.Args[0]); err != nil {
			break
		}
		found = append(found, p)
		if p.Code != code || new(big.Int).AndNot(named, left).Sign() != 0 {
			return found, fmt.Errorf("a stray event %v, waiting for %d of %s", p, code, setText(j.Size, left))
		}
		left.AndNot(left, named)
	}
	return found, err
}

// Ask sends a command for a set, which is its first argument, and awaits the answers.
func (j *Job) Ask(answer, code int, set string, args ...string) ([]Packet, error) {
	if err := j.Send(code, append([]string{set}, args...)...); err != nil {
		return nil, err
	}
	return j.Await(answer, set)
}

// Begin sends START SESSION, with the name of a program, its directory, the working directory and
// arguments, and awaits the answers.
func (j *Job) Begin(program string, args ...string) error {
	dir, name := filepath.Split(program)
	if err := j.Send(Start, append([]string{name, dir, j.Starter.Dir}, args...)...); err != nil {
		return err
	}
	_, err := j.Await(OK, j.All())
	return err
}

// Resume sends GO or STEP for all ranks and awaits their stops, which it returns.
func (j *Job) Resume(code int, args ...string) ([]Packet, error) {
	if _, err := j.Ask(OK, code, j.All(), args...); err != nil {
		return nil, err
	}
	return j.Await(Stopped, j.All())
}

// End sends QUIT and reads to the end of the connection.
func (j *Job) End() error {
	if err := j.Send(Quit); err != nil {
		return err
	}
	p, err := j.Next()
	if err == nil {
		return fmt.Errorf("event %v after QUIT", p)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// Close ends the connection, waits for the master, and ends the job. The error is the master's.
func (j *Job) Close() error {
	if j.conn != nil {
		j.conn.Close()
	}
	var err error
	if j.Master.Process != nil {
		if j.conn == nil {
			j.Master.Process.Kill() // it waits for a front end
		}
		err = j.Master.Wait()
	}
	if j.Starter.Process != nil {
		j.Starter.Process.Signal(os.Interrupt) // an error means that it has ended
		j.Starter.Wait()                       // its status is the status of terminated ranks
	}
	return err
}
