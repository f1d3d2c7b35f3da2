// Starters that libpmix starts.

package pmix

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// CanSpawn returns why a starter cannot be started by libpmix; nil: it can. The starter connects to
// sdm-pmix, so its library must be able to talk to sdm-pmix's. Its version is not known before it
// connects: Open MPI 6 and PRRTE 5 have 7.
func (d Dialect) CanSpawn(library Version) error {
	major := 5
	if d.Name == "PRRTE" {
		major = 3
	}
	if d.Version.Major > major && library.Major < 6 {
		return fmt.Errorf("--pmix-indirect spawn: %s cannot connect to libpmix %s of sdm-pmix, which is older than its own (--pmix-indirect fork can)", d, library)
	}
	return nil
}

// spawnStarter has libpmix start the starter as a tool of sdm-pmix, whose server becomes
// sdm-pmix's. The starter waits until it is released, then it starts its job.
func (i *Indirect) spawnStarter(ctx context.Context, _ func(string)) error {
	if err := i.spec.Dialect.CanSpawn(i.helper.Library); err != nil {
		return err
	}
	address, err := i.listen(ctx)
	if err != nil {
		return err
	}
	nspace, err := i.spawn(ctx, Request{Call: CallSpawn,
		Apps: []App{{Argv: i.spec.Argv, Procs: 1, Env: []string{"PMIX_LAUNCHER_RNDZ_URI=" + address}}},
		Info: []Info{
			True(SpawnTool), True(ForwardStdout), True(ForwardStderr), True(NotifyCompletion),
			{Key: LaunchDirectives, Value: Value{Type: Infos, Infos: []Info{
				True(StopInInit), True(NotifyJobEvents), True(ForwardStdout), True(ForwardStderr), noInput,
			}}},
		}})
	if err != nil {
		return err
	}
	s := &toolStarter{connection: &i.connection, name: filepath.Base(i.spec.Argv[0]), nspace: nspace,
		pid: childOf(i.helper.cmd.Process.Pid), done: make(chan struct{})}
	i.starter, i.server = s, Found{Rendezvous: Rendezvous{URI: NewURI(nspace + ".0;"), PID: s.pid}}
	go s.await()
	first := Proc{Nspace: nspace}
	if _, err := i.helper.Call(ctx, Request{Call: CallFollow, Proc: &first,
		Info: []Info{True(WaitForConnection), Number(Timeout, Int, connectTime)}}); err != nil {
		return err
	}
	return i.release(first)
}

// connectTime is how long a starter may take to connect, in seconds. It takes 250 ms.
const connectTime = 30

// listen makes sdm-pmix a tool without a server to which starters can connect, and returns its
// address.
func (i *Indirect) listen(ctx context.Context) (string, error) {
	m, err := i.helper.Call(ctx, Request{Call: CallConnect, Info: []Info{True(DoNotConnect), True(ToolIsLauncher)}})
	if err != nil {
		return "", err
	}
	if m.Proc == nil {
		return "", errors.New("libpmix gives sdm-pmix no name")
	}
	i.setSelf(m.Proc.Nspace)
	for _, key := range []Key{MyServerURI, ServerURI} {
		got, err := i.helper.Call(ctx, Request{Call: CallGet, Key: key, Proc: m.Proc})
		if v, found := Find(got.Info, key); err == nil && found && v.Text != "" {
			return v.Text, nil
		}
	}
	return "", fmt.Errorf("libpmix %s of sdm-pmix does not tell where a starter can connect", i.helper.Library)
}

// childOf returns the only child of a process; 0: it has none.
func childOf(parent int) int {
	all, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is valid
	for _, path := range all {
		stat, _ := os.ReadFile(path) // of a process that has ended: empty
		_, after, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
		if fields := strings.Fields(after); len(fields) > 1 && fields[1] == strconv.Itoa(parent) && fields[0] != "Z" {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			return pid
		}
	}
	return 0
}

// toolStarter is a starter that libpmix has started.
//
// Goroutine: await.
type toolStarter struct {
	*connection
	name, nspace string
	pid          int // 0: it is not known
	done         chan struct{}
	status       int  // after done
	known        bool // status is known; libpmix 4.2 to 7.0 tells the job's at best
	told         sync.Once
}

// await is the goroutine of the toolStarter: it waits for the end of the starter and ends sdm-pmix.
// PRRTE 3 tells the end of the starter itself, and PRRTE 5 the end of its job; both close the
// connection.
func (s *toolStarter) await() {
	defer close(s.done)
	var late <-chan time.Time
	for over := false; !over; {
		changed := s.next()
		if _, told := s.exit(s.nspace); told {
			break
		}
		if s.IsLost() && late == nil {
			late = time.After(lateEvent)
		}
		select {
		case <-changed:
		case <-late:
			over = true
		case <-s.helper.Done():
			over = true
		}
	}
	s.status, s.known = s.exit(s.nspace + "@1")
	ctx, cancel := context.WithTimeout(context.Background(), leaveWait)
	defer cancel()
	s.helper.End(ctx)
}

func (s *toolStarter) Done() <-chan struct{} { return s.done }

// Status returns 0 if the exit status is not known.
func (s *toolStarter) Status() int {
	<-s.done
	return s.status
}

func (s *toolStarter) isKnown() bool {
	<-s.done
	return s.known
}

func (s *toolStarter) Stop() { s.told.Do(func() { s.signal(syscall.SIGTERM) }) }

// signal sends a signal to the starter, unless it has ended: then its process ID may belong to another process.
func (s *toolStarter) signal(sig syscall.Signal) {
	select {
	case <-s.done:
		return
	default:
	}
	if s.pid != 0 {
		syscall.Kill(s.pid, sig)
	}
}

func (s *toolStarter) end(ctx context.Context) error {
	s.Stop()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
	}
	s.signal(syscall.SIGKILL)
	s.helper.kill() // the starter ends with it
	<-s.done
	return fmt.Errorf("%s did not end in time, and was killed", s.name)
}

func (s *toolStarter) process() int { return s.pid }

func (s *toolStarter) called() string { return s.name }

func (s *toolStarter) early() error {
	return &Ended{s.name, "libpmix does not tell its exit status"}
}
