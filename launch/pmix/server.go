// The connection to a server, and the calls that all uses of it share.

package pmix

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// ServerSpec says which server is used, and by which program.
type ServerSpec struct {
	Program string       // path of sdm-pmix
	Target  Target       // the server
	Env     []string     // of sdm-pmix; names the directories of rendezvous files
	Force   bool         // connect although the server would not survive it
	Log     bool         // the server is to write what the session does to the log of the system
	Notice  func(Notice) // gets what the user should know; it must not wait; nil: it is dropped
	// Stdout and Stderr get what the server forwards; nil is /dev/null.
	Stdout, Stderr *os.File
}

// connection is the connection of a session to a server, and what the server's events have told.
//
// Goroutines: Helper's; with Log one that writes faults, from the connection to the end of
// sdm-pmix, for which finish waits.
type connection struct {
	ServerSpec
	server Found
	helper *Helper
	// our own namespace; servers number it like a job; the goroutine of the session writes it with mu, and alone reads
	// it without
	self string

	mu    sync.Mutex
	own   []string        // namespaces of the session: their events become notices
	ends  map[string]int  // exit codes of ended jobs by namespace, older jobs included
	ready map[string]bool // namespaces whose ranks wait, as the server has said; "": it named none
	lost  bool            // the connection to the server
	// outlives says that the server is to live longer than the jobs of the session, so its loss is told.
	outlives bool
	changed  chan struct{}  // closed and replaced at each event
	faults   chan string    // for the log of the system, at most maxFaults wait; nil: none are written
	writing  sync.WaitGroup // for the goroutine that writes them
}

func newConnection(spec ServerSpec) connection {
	return connection{ServerSpec: spec, ends: map[string]int{}, ready: map[string]bool{}, changed: make(chan struct{})}
}

// Server returns the server that was found.
func (l *connection) Server() Found { return l.server }

// open finds the server, starts sdm-pmix and connects it. The error is a *NoServer or a *Harm if
// the server was not touched.
func (l *connection) open(ctx context.Context) error {
	found, err := Locate(l.Target, Directories(l.Env))
	if err != nil {
		return err
	}
	if err := l.start(ctx); err != nil {
		return err
	}
	return l.connect(ctx, found)
}

// start starts sdm-pmix.
func (l *connection) start(ctx context.Context) (err error) {
	l.helper, err = StartHelper(ctx, HelperSpec{Path: l.Program, Env: l.Env, Stdout: l.Stdout, Stderr: l.Stderr,
		OnEvent: l.note})
	return err
}

// connect connects sdm-pmix to a server.
func (l *connection) connect(ctx context.Context, to Found) error {
	l.server = to
	if err := CheckHarm(to); err != nil && !l.Force {
		return err
	}
	if err := l.helper.Library.Reaches(to.Version); err != nil {
		return err
	}
	m, err := l.helper.Call(ctx, Request{Call: CallConnect, Info: []Info{String(ServerURI, to.URI.Reveal())}})
	if err == nil && m.Proc != nil {
		l.setSelf(m.Proc.Nspace)
	}
	if err == nil {
		err = l.checkLog()
	}
	return err
}

// finish leaves the server and waits for the end of sdm-pmix.
func (l *connection) finish(ctx context.Context) {
	l.helper.End(ctx)
	l.writing.Wait()
}

// setSelf records our own namespace.
func (l *connection) setSelf(nspace string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.self = nspace
}

// addOwn records that a namespace belongs to the session.
func (l *connection) addOwn(nspace string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.own = append(l.own, nspace)
}

// spawn starts a job and returns its namespace.
func (l *connection) spawn(ctx context.Context, r Request) (string, error) {
	m, err := l.helper.Call(ctx, r)
	if err != nil {
		return "", explainSpawn(r, err)
	}
	if m.Proc == nil || m.Proc.Nspace == "" {
		return "", errors.New("PMIx spawn: the server names no job")
	}
	l.addOwn(m.Proc.Nspace)
	return m.Proc.Nspace, nil
}

// table asks for the processes of a job. PRRTE does not know a job for a moment after its start, so
// a negative answer is an empty table.
func (l *connection) table(ctx context.Context, nspace string) ([]ProcInfo, error) {
	return l.rows(ctx, QueryTable, nspace)
}

func (l *connection) rows(ctx context.Context, key Key, nspace string) ([]ProcInfo, error) {
	m, err := l.helper.Call(ctx, Request{Call: CallQuery, Key: key, Info: []Info{String(Nspace, nspace)}})
	var f *Failure
	if errors.As(err, &f) && (f.Code == ErrNotFound || f.Code == ErrBadParam) {
		return nil, nil
	}
	v, _ := Find(m.Info, key)
	return v.Table, err
}

// jobs returns the namespaces of the running jobs of the server, in the order of their numbers: those
// with ranks that have called MPI_Init, or else all. PRRTE 5 lists tools among them, which have not.
func (l *connection) jobs(ctx context.Context) ([]string, error) {
	m, err := l.helper.Call(ctx, Request{Call: CallQuery, Key: QueryNamespaces})
	var f *Failure
	if errors.As(err, &f) && f.Code == ErrNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, _ := Find(m.Info, QueryNamespaces)
	var connected, others []string
	for _, name := range l.namesOf(v.Text) {
		rows, err := l.table(ctx, name)
		switch {
		case err != nil || len(rows) == 0 || allEnded(rows) || filepath.Base(rows[0].Executable) == Program:
		case rows[0].State == StateConnected:
			connected = append(connected, name)
		default:
			others = append(others, name)
		}
	}
	if len(connected) > 0 {
		return connected, nil
	}
	return others, nil
}

// namesOf returns the namespaces of a comma list that may be jobs of the server, without our own.
func (l *connection) namesOf(list string) []string {
	server, _, _ := strings.Cut(l.server.URI.Namespace(), "@")
	numbers := map[int]string{}
	for name := range strings.SplitSeq(list, ",") {
		of, number, _ := strings.Cut(name, "@")
		if n, err := strconv.Atoi(number); err == nil && n > 0 && of == server && name != l.self {
			numbers[n] = name
		}
	}
	var names []string
	for _, n := range slices.Sorted(maps.Keys(numbers)) {
		names = append(names, numbers[n])
	}
	return names
}

func allEnded(rows []ProcInfo) bool {
	return !slices.ContainsFunc(rows, func(p ProcInfo) bool { return p.State < StateTerminated })
}

// areConnected reports whether all ranks of a table are in PMIx_Init or past it. A release that is
// sent before is lost.
func areConnected(rows []ProcInfo) bool {
	return len(rows) > 0 && !slices.ContainsFunc(rows, func(p ProcInfo) bool { return p.State != StateConnected })
}

// release lets ranks go on that wait in PMIx_Init or by themselves. Ranks that do not wait are not
// harmed.
func (l *connection) release(target Proc) error {
	_, err := l.helper.Call(context.Background(), // the call has a limit
		Request{Call: CallNotify, Event: DebuggerRelease, Targets: []Proc{target}})
	return err
}

// kill ends a job, unless it has ended.
func (l *connection) kill(ctx context.Context, nspace string) error {
	l.mu.Lock()
	_, ended := l.ends[nspace]
	over := nspace == "" || ended || l.lost
	l.mu.Unlock()
	if over {
		return nil
	}
	_, err := l.helper.Call(ctx, Request{Call: CallControl, Targets: []Proc{All(nspace)}, Info: []Info{True(ControlKill)}})
	var f *Failure
	if errors.As(err, &f) && f.Code == ErrNotFound {
		return nil // it has ended since
	}
	return err
}

// tableOf converts a table of PMIx, which is not trusted.
func tableOf(rows []ProcInfo) (protocol.Proctable, error) {
	var table protocol.Proctable
	for _, r := range rows {
		if r.Rank > uint32(rank.MaxID) {
			return nil, errors.New("the server names a rank that is no number of a rank")
		}
		row := protocol.Process{Rank: rank.ID(r.Rank), Host: r.Host, PID: r.PID}
		if r.Executable != "" {
			row.Program = filepath.Clean(r.Executable) // they contain /./
		}
		table = append(table, row)
	}
	slices.SortFunc(table, func(a, b protocol.Process) int { return int(a.Rank) - int(b.Rank) })
	return table, table.Check()
}

// announce tells processes that have registered for the event, and the log of the system, that a
// debugger comes to a job or leaves it. The event goes to no default handler: default handlers of
// MPI libraries end the job at an event that they do not know.
func (l *connection) announce(event Code, nspace string) {
	text := "sdm: a debugger is attached to job " + nspace
	if event == DebuggerDetached {
		text = "sdm: the debugger has left job " + nspace
	}
	ctx := context.Background() // the calls have limits
	// Errors are ignored: the message is for others, and the session does not depend on it.
	l.helper.Call(ctx, Request{Call: CallNotify, Event: event,
		Info: []Info{OfProc(AffectedProc, All(nspace)), String(EventText, text)}})
	l.write(ctx, text)
}

// leaver is the goroutine that leaves a server, and how it is told to.
type leaver struct {
	once  sync.Once // closes stop
	stop  chan struct{}
	group sync.WaitGroup
}

// leave waits until a job ends, the server is lost, or stop is closed, and leaves the server.
func (l *connection) leave(nspace string, stop <-chan struct{}) {
	again := time.NewTicker(askAgain)
	defer again.Stop()
	var gone absence
	for over := false; !over; {
		changed := l.next()
		if _, ended := l.exit(nspace); ended || l.IsLost() {
			break
		}
		select {
		case <-changed:
		case <-again.C:
			over = gone.seen(context.Background(), l, nspace) // the call has a limit
		case <-l.helper.Done():
			over = true
		case <-stop:
			over = true
		}
	}
	if code, ended := l.exit(nspace); ended {
		l.write(context.Background(), endOf(nspace, code)) // the call has a limit
	} else if !l.IsLost() {
		l.announce(DebuggerDetached, nspace)
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveWait)
	defer cancel()
	l.finish(ctx)
}

// leaveWait bounds the time to leave a server.
const leaveWait = 5 * time.Second
